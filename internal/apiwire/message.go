package apiwire

import (
	"cmp"
	"errors"

	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// The words for what others do to a grant, and for what is granted unasked.
const (
	messageAsked   = "asked"
	messageTaken   = "taken"
	messageMissed  = "missed"
	messageGranted = "granted"
	messageAsk     = "ask"
)

// Plea writes what is asked of who has a lock.
func Plea(name string, p driver.Plea) *bedrockv1.AskRequest {
	return &bedrockv1.AskRequest{Name: name, Reason: p.Reason, Within: duration(p.Within)}
}

// PleaOf reads what is asked.
func PleaOf(m *bedrockv1.AskRequest) driver.Plea {
	return driver.Plea{Reason: m.GetReason(), Within: m.GetWithin().AsDuration()}
}

// Message writes what others have done to a grant. One that is wanted is told of to no client of a server: none of its
// grants lingers.
func Message(m driver.Message) *bedrockv1.AttendResponse {
	r := &bedrockv1.AttendResponse{
		Name: m.Name, Owner: m.Owner, Reason: m.Plea.Reason, Within: duration(m.Plea.Within),
	}
	switch m.Kind {
	case driver.Asked:
		r.Kind = messageAsked
	case driver.Taken:
		r.Kind, r.Reason = messageTaken, reason(m.Why)
	default:
		return &bedrockv1.AttendResponse{Kind: messageMissed}
	}
	return r
}

// reason writes why a grant is gone, empty if it was taken away by force.
func reason(why error) string {
	if why == nil {
		return ""
	}
	return cmp.Or(printable.Line(why.Error(), driver.MaxReason), "?")
}

// MessageOf reads what others have done to a grant. Known is false for the empty message, and for what a newer server
// may tell of.
func MessageOf(r *bedrockv1.AttendResponse) (m driver.Message, known bool) {
	m = driver.Message{Name: r.GetName(), Owner: r.GetOwner()}
	switch r.GetKind() {
	case messageAsked:
		m.Kind, m.Plea = driver.Asked, driver.Plea{Reason: r.GetReason(), Within: r.GetWithin().AsDuration()}
	case messageTaken:
		m.Kind = driver.Taken
		if why := r.GetReason(); why != "" {
			m.Why = errors.New(why)
		}
	case messageMissed:
		m = driver.Message{Kind: driver.Missed}
	default:
		return m, false
	}
	return m, true
}

// Passed writes what was granted to a request that stands, or that something may have been to who stands for a name.
func Passed(g driver.Grant) *bedrockv1.AttendResponse {
	if g.Owner == "" {
		return &bedrockv1.AttendResponse{Kind: messageAsk, Name: g.Name}
	}
	return &bedrockv1.AttendResponse{
		Kind: messageGranted, Name: g.Name, Owner: g.Owner,
		Token: g.Token, Tokens: count(g.Tokens), Ttl: duration(g.TTL),
	}
}

// PassedOf reads what was granted to a request that stands. Known is false for every other message.
func PassedOf(r *bedrockv1.AttendResponse) (g driver.Grant, known bool) {
	switch r.GetKind() {
	case messageAsk:
		return driver.Grant{Name: r.GetName()}, true
	case messageGranted:
		return driver.Grant{
			Name: r.GetName(), Owner: r.GetOwner(), TTL: r.GetTtl().AsDuration(),
			Token: r.GetToken(), Tokens: int(r.GetTokens()),
		}, r.GetOwner() != ""
	default:
		return driver.Grant{}, false
	}
}
