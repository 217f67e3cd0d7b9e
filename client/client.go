package client

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/txn"
)

// Options adjusts a Client. Zero fields mean the defaults.
type Options struct {
	// Token is shown with every call. Default: none.
	Token string
	// TLS is how servers behind https are reached. Default: the system's authorities.
	TLS *tls.Config
	// HTTP makes the calls instead of connections of the client's own; those of them that
	// lie idle are closed after a call without an answer. Default: nil.
	HTTP *http.Client
	// Patience is how long a call is repeated while the server does not answer, and how
	// long a server is waited for that is there and does not answer, as when its store is
	// away; a second at least. Run and Wait wait for an outcome, however long that takes:
	// while there is a server it is their context that ends them. Where none can be reached
	// they end like other calls: with [txn.ErrUnavailable], or with *txn.InDoubtError if the
	// transaction may go on. Default 10 s, at least 1 ms; -1: calls are not repeated, and end
	// with their context.
	//
	// A connection may have died silently: after a quarter of Patience without an answer a
	// call is made again over a new one, and Run and Wait ask anew after 20 s. With -1 none
	// is left before the context ends.
	Patience time.Duration
	// ForceReason is why locks are taken away by force, for the server's audit log: [Client.Backend] has no place for
	// it in a call. Default: "ForceRelease by a program".
	ForceReason string
}

func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Patience == 0 {
		r.Patience = 10 * time.Second
	}
	r.ForceReason = cmp.Or(r.ForceReason, "ForceRelease by a program")
	switch {
	case r.Patience < time.Millisecond && r.Patience != -1:
		return r, input.Errorf("patience", "%v: want 1ms or more, or -1 for none", r.Patience)
	case r.HTTP != nil && r.TLS != nil:
		return r, input.Errorf("tls", "belongs to the HTTP client that was given")
	case strings.ContainsAny(r.Token, " \t\r\n"):
		return r, input.Errorf("token", "has spaces in it")
	}
	return r, nil
}

// Client is a server's remote side. It is safe for concurrent use; one per process
// and server is enough.
type Client struct {
	transactions bedrockv1connect.TransactionServiceClient
	streams      bedrockv1connect.TransactionServiceClient
	locks        bedrockv1connect.LockServiceClient
	listening    bedrockv1connect.LockServiceClient
	patience     time.Duration
	forceReason  string
	links        links
}

var (
	_ txn.Coordinator = (*Client)(nil)
	_ txn.Inspector   = (*Client)(nil)
	_ txn.Operator    = (*Client)(nil)
	_ txn.Topics      = (*Client)(nil)
)

// Dial makes a client of the server at an address such as http://127.0.0.1:7700. It
// does not connect yet: the server may start later. An address or options that cannot be
// used are an *input.Error.
func Dial(address string, opts *Options) (*Client, error) {
	base, err := baseOf(address)
	if err != nil {
		return nil, err
	}
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	l := newLinks(base, &filled)
	settings := connect.WithClientOptions(
		connect.WithInterceptors(introduction{filled.Token}),
		connect.WithAcceptCompression("gzip", nil, nil), // it costs more than it saves on messages this small
	)
	text := strings.TrimSuffix(base.String(), "/")
	return &Client{
		transactions: bedrockv1connect.NewTransactionServiceClient(l.calls, text, settings),
		streams:      bedrockv1connect.NewTransactionServiceClient(l.streams, text, settings),
		locks:        bedrockv1connect.NewLockServiceClient(l.calls, text, settings),
		listening:    bedrockv1connect.NewLockServiceClient(l.streams, text, settings),
		patience:     filled.Patience,
		forceReason:  filled.ForceReason,
		links:        l,
	}, nil
}

func baseOf(address string) (*url.URL, error) {
	base, err := url.Parse(address)
	switch {
	case err != nil: // the error would quote the address, and with it a password
		return nil, input.Errorf("address", "is not a URL: want http://host:port or https://host:port")
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, input.Errorf("address", "%q: want http://host:port or https://host:port", base.Redacted())
	case base.Host == "":
		return nil, input.Errorf("address", "%q: there is no host", base.Redacted())
	case !isPort(base.Port()):
		return nil, input.Errorf("address", "%q: want a port from 1 to 65535, or none", base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, input.Errorf("address", "%q: want nothing but scheme, host and path", base.Redacted())
	}
	return base, nil
}

// isPort reports whether what a URL has for a port is one, or nothing.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// Close closes connections of the client's own that are not in use. Calls under way go on.
func (c *Client) Close() error {
	c.links.close()
	return nil
}
