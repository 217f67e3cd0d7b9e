package httpcall

import "testing"

// Whatever the environment says about proxies, which a test cannot show: the standard
// library reads it once, and never asks a proxy for the loopback.
func TestNoProxyIsAsked(t *testing.T) {
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for scheme, transport := range c.transports {
		if transport.Proxy != nil {
			t.Error(scheme)
		}
	}
}
