package httpcall

import "testing"

// Whatever the environment says about proxies, which a test cannot show: the standard
// library reads it once, and never asks a proxy for the loopback.
func TestNoProxyIsAsked(t *testing.T) {
	o, err := (*Options)(nil).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.newSecure().Proxy != nil {
		t.Error("asked")
	}
}
