package auth_test

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/server/auth"
)

func TestExposure(t *testing.T) {
	for _, tc := range []struct {
		addr                  string
		tls, tokens, insecure bool
		ok                    bool
	}{
		{addr: "127.0.0.1:7700", ok: true},
		{addr: "127.8.9.1:7700", ok: true},
		{addr: "[::1]:7700", ok: true},
		{addr: "[::ffff:127.0.0.1]:7700", ok: true},
		{addr: "localhost:7700", ok: true},
		{addr: ":7700"},
		{addr: "0.0.0.0:7700"},
		{addr: "[::]:7700"},
		{addr: "10.0.0.1:7700"},
		{addr: "10.0.0.1:7700", tls: true},
		{addr: "10.0.0.1:7700", tokens: true},
		{addr: "10.0.0.1:7700", tls: true, tokens: true, ok: true},
		{addr: "10.0.0.1:7700", insecure: true, ok: true},
		{addr: "localhost.example:7700"},
		{addr: "app.localhost:7700"},
		{addr: "127.0.0.1.example:7700"},
	} {
		err := auth.Exposure{TLS: tc.tls, Tokens: tc.tokens, Insecure: tc.insecure}.Check(tc.addr)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, auth.ErrExposed) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
	if err := (auth.Exposure{TLS: true, Tokens: true, Insecure: true}).Check("nonsense"); err == nil {
		t.Error("no port: no error")
	}
}
