package driver

import (
	"context"
	"strings"

	"github.com/bedrock-go/bedrock/input"
)

// Attender is implemented by backends through which many clients have their grants, as those of a server do: each
// of them attends by itself, where [Notifier] is for a backend of one client. Where it is a [Successor], too, a lock is
// passed on to a client only while that attends; what all of them are granted is told by one Inherit.
type Attender interface {
	// Attend tells what others do to the grants of a client, see [ClientOf], of the kinds Taken, Asked and Missed,
	// until stop. It returns once that has begun. tell must not block, nor call the backend.
	Attend(ctx context.Context, client string, tell func(Message)) (stop func(), err error)
}

// CheckClient says by an [*input.Error] what no client of owners is called.
func CheckClient(client string) error {
	if strings.Contains(client, ":") {
		return &input.Error{Field: "client", Problem: "has a colon: want what owners have before it"}
	}
	return checkText("client", client, MaxOwner)
}
