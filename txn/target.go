package txn

import "strings"

// Target names a participant:
//
//	stock.deduct                    a Go function registered under this name
//	https://pay.example/charge      an HTTP endpoint
//	grpc://host:port/pkg.Svc/Method a gRPC method (grpcs:// with TLS)
//	topic:orders                    all subscribers of a topic (messages only)
//	async:TARGET                    TARGET, reached through a message of its own, which
//	                                nothing confirms or takes back
//
// Any other word before a colon is a scheme as well, for whoever has a [Caller] that names
// it. The empty target has nothing to do and succeeds at once.
type Target string

// The schemes that no Caller has, because the coordinator itself knows what they mean.
const (
	SchemeAsync = "async"
	SchemeTopic = "topic"
)

// Async is the target that is reached through a message of its own.
func Async(to Target) Target { return SchemeAsync + ":" + to }

// Topic is the target that stands for all subscribers of a topic.
func Topic(name string) Target { return Target(SchemeTopic + ":" + name) }

// Scheme says how the target is reached; functions have none.
func (t Target) Scheme() string {
	scheme, _, ok := strings.Cut(string(t), ":")
	if !ok {
		return ""
	}
	return scheme
}

// Async reports whether the target is reached through a message of its own, which brings
// no answer, and whom that message is for.
func (t Target) Async() (to Target, ok bool) {
	rest, ok := strings.CutPrefix(string(t), SchemeAsync+":")
	return Target(rest), ok
}

// Topic reports whether the target stands for the subscribers of a topic, and of which.
func (t Target) Topic() (name string, ok bool) {
	return strings.CutPrefix(string(t), SchemeTopic+":")
}
