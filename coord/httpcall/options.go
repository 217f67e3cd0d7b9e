package httpcall

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/coord/allow"
)

// Options configure [New]. The zero value and nil mean the defaults.
type Options struct {
	// Allow says who may be called. Defaults to allow.Everyone(): give it rules where
	// others than the program itself choose targets.
	Allow *allow.Rules
	// TLS is for https: root CAs, client certificates. Defaults to the system's CAs
	// and no client certificate.
	TLS *tls.Config
	// PerHost is how many idle connections to one host are kept. Defaults to 512.
	PerHost int
	// MaxResult bounds the result of a call, in bytes. A longer one is dropped, and
	// the call is done all the same. Defaults to 1 MiB.
	MaxResult int
	// DialTimeout bounds making a connection. Defaults to 5 s.
	DialTimeout time.Duration
}

// withDefaults fills what is zero and refuses what makes no sense.
func (o *Options) withDefaults() (Options, error) {
	var full Options
	if o != nil {
		full = *o
	}
	if full.PerHost < 0 || full.MaxResult < 0 || full.DialTimeout < 0 {
		return Options{}, fmt.Errorf("httpcall: PerHost %d, MaxResult %d, DialTimeout %v: want 0 (default) or more",
			full.PerHost, full.MaxResult, full.DialTimeout)
	}
	if full.Allow == nil {
		full.Allow = allow.Everyone()
	}
	if full.PerHost == 0 {
		full.PerHost = 512
	}
	if full.MaxResult == 0 {
		full.MaxResult = 1 << 20
	}
	if full.DialTimeout == 0 {
		full.DialTimeout = 5 * time.Second
	}
	return full, nil
}
