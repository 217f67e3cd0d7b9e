package redisconn_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestClosingTheClientTellsThatNothingHasHappened: a request was carried out, and its client
// closed before the answer came. What comes after that is never sent.
func TestClosingTheClientTellsThatNothingHasHappened(t *testing.T) {
	call := redisconn.Call{Script: push, Keys: []string{"k"}}
	for what, do := range map[string]func(*testing.T, redisconn.Conn) error{
		"Eval": func(t *testing.T, conn redisconn.Conn) error {
			_, err := conn.Eval(t.Context(), push, call.Keys, nil)
			return err
		},
		"Pipeline": func(t *testing.T, conn redisconn.Conn) error {
			return conn.Pipeline(t.Context(), []redisconn.Call{call, call})[0].Err
		},
	} {
		for library, connect := range connectors() {
			t.Run(library+"/"+what, func(t *testing.T) {
				t.Parallel()
				server, proxy, conn, closeClient := behindProxy(t, connect)
				proxy.BlackHole(chaos.Replies)
				failed := make(chan error, 1)
				go func() { failed <- do(t, conn) }()
				server.Do("BLPOP", "k", "0")
				closeClient()
				if err := <-failed; redisconn.AftermathOf(err) != redisconn.Unknown {
					t.Errorf("what was under way: %d (%v)", redisconn.AftermathOf(err), err)
				}
				if err := do(t, conn); redisconn.AftermathOf(err) != redisconn.Refused {
					t.Errorf("what came later: %d (%v)", redisconn.AftermathOf(err), err)
				}
			})
		}
	}
}
