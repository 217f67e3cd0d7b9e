package main

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/coord/allow"
)

// TestServerOpensThisMachineToOthers: what listens on a loopback address is closed to
// the clients of a server that others can reach, unless somebody says otherwise.
func TestServerOpensThisMachineToOthers(t *testing.T) {
	for _, c := range []struct {
		listen  string
		allow   []string
		allowed bool
	}{
		{listen: "127.0.0.1:7700", allowed: true},
		{listen: "localhost:7700", allowed: true},
		{listen: "0.0.0.0:7700"},
		{listen: ":7700"},
		{listen: "10.0.0.1:7700", allow: []string{"10.0.0.0/8"}},
		{listen: ":7700", allow: []string{"127.0.0.1:8080"}, allowed: true},
	} {
		rules, err := (&serveFlags{listen: c.listen, allow: c.allow}).callRules()
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.Check("http://127.0.0.1:8080/"); errors.Is(err, allow.ErrDenied) == c.allowed {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
