package httpclients

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Client makes calls to one server.
type Client interface {
	// Post makes a call as coord/httpcall does: a small JSON body, the headers of a
	// call, a reply of at most maxResult bytes, and an end with its context.
	Post(ctx context.Context) (Reply, error)
	// Do makes a request for connect.
	Do(r *http.Request) (*http.Response, error)
	// Close closes the connections that lie idle.
	Close()
}

// Reply is what a call was answered.
type Reply struct {
	Status int
	Body   []byte
	Cut    bool // the body was longer than maxResult, and dropped
}

// Candidate is a client of HTTP that is measured.
type Candidate struct {
	Name string
	// Open makes a client of the server at an address, HOST:PORT.
	Open func(address string) (Client, error)
	// Participants says that HTTP servers in general understand it.
	Participants bool
}

const (
	// oursName and shippedName are those that gains are reckoned with.
	oursName    = "internal/http1"
	shippedName = "net/http as shipped"
)

// Candidates returns all clients that are compared.
func Candidates() []Candidate {
	return []Candidate{
		{Name: oursName, Open: openOurs, Participants: true},
		{Name: shippedName, Open: openShipped, Participants: true},
		{Name: "net/http tuned", Open: openTuned, Participants: true},
		{Name: "net/http h2c", Open: openH2C},
		{Name: "fasthttp", Open: openFast, Participants: true},
		{Name: "fasthttp guarded", Open: openFastGuarded, Participants: true},
	}
}

// How connections are kept, as coord/httpcall and client keep them.
const (
	perHost    = 512
	idleTime   = time.Minute
	maxResult  = 1 << 20
	maxHeaders = 64 << 10
	agent      = "bedrock"
	path       = "/charge"
)

// errUnsent is of calls of which not a byte has left.
var errUnsent = errors.New("not sent")

// payload is the body of every call.
func payload() []byte { return []byte(`{"order":42,"amount":1999}`) }

// fields are the headers of every call, those of coord/httpcall.
func fields() [][2]string {
	return [][2]string{
		{"Bedrock-Transaction", "0198c7a4-5d3e-7c41-9f0a-3b1c5e7d9f10"},
		{"Bedrock-Branch", "pay"},
		{"Bedrock-Operation", "action"},
		{"Bedrock-Mode", "saga"},
		{"Bedrock-Attempt", "1"},
		{"Bedrock-Epoch", "7"},
		{"Idempotency-Key", "0198c7a4-5d3e-7c41-9f0a-3b1c5e7d9f10/pay/action"},
		{"Bedrock-Deadline", "2030-01-02T03:04:05Z"},
		{"Content-Type", "application/json"},
	}
}

// readReply reads a body of which so many bytes are announced, or -1.
func readReply(status int, length int64, body io.Reader) (Reply, error) {
	if length > maxResult {
		return Reply{Status: status, Cut: true}, nil
	}
	text, err := readBody(length, body)
	if len(text) > maxResult {
		return Reply{Status: status, Cut: true}, nil
	}
	return Reply{Status: status, Body: text}, err
}

// readBody reads a body in one piece if its length is known.
func readBody(length int64, body io.Reader) ([]byte, error) {
	if length < 0 {
		return io.ReadAll(io.LimitReader(body, maxResult+1))
	}
	text := make([]byte, length)
	n, err := io.ReadFull(body, text)
	return text[:n], err
}
