package httpcall

import (
	"crypto/tls"
	"time"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/input"
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
	// MaxResult bounds the result of a call, in bytes, itself at most 1 GiB. A longer
	// result is dropped, and the call is done all the same. Defaults to 1 MiB.
	MaxResult int
	// DialTimeout bounds making a connection. Defaults to 5 s; at least 1 ms.
	DialTimeout time.Duration
}

// largestResult is how large MaxResult may be: a result is in memory as a whole.
const largestResult = 1 << 30

// withDefaults fills what is zero and refuses what makes no sense.
func (o *Options) withDefaults() (Options, error) {
	var full Options
	if o != nil {
		full = *o
	}
	switch {
	case full.PerHost < 0:
		return Options{}, input.Errorf("perHost", "%d: want 0 (default) or more", full.PerHost)
	case full.MaxResult < 0 || full.MaxResult > largestResult:
		return Options{}, input.Errorf("maxResult", "%d: want 0 (default) to %d", full.MaxResult, largestResult)
	case full.DialTimeout != 0 && full.DialTimeout < time.Millisecond: // 5 is 5 ns: no connection is ever made
		return Options{}, input.Errorf("dialTimeout", "%v: want 0 (default) or 1ms or more", full.DialTimeout)
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
