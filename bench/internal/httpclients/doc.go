// Package httpclients measures clients of HTTP beside one another: that of
// internal/http1, net/http as it is shipped, net/http as well as it can be set, the same
// over HTTP/2 without TLS, and fasthttp's.
//
// Each makes the two kinds of calls that Bedrock makes: those to participants, as
// coord/httpcall does, and those to a server of ours through connect, as package client
// does. The server is another process. [Suite] measures what a call costs the process
// that makes it; [Examine] shows which promises of internal/http1 each of them keeps.
package httpclients
