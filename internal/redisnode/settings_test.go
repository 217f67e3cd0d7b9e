package redisnode_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/redisconn"
)

// secretive is a server that answers every CONFIG alike.
type secretive struct{ answer string }

func (secretive) Addr() string { return "" }

func (n secretive) Do(_ context.Context, args ...string) (redisconn.Reply, error) {
	if args[0] == "INFO" {
		return redisconn.Reply{Str: "# Persistence\r\naof_enabled:1\r\n"}, nil
	}
	return redisconn.Reply{}, &redisconn.ReplyError{Cause: errors.New(n.answer)}
}

// TestServerThatCannotTellIsTakenForOneThatMustNot: what it would have said may be what matters.
func TestServerThatCannotTellIsTakenForOneThatMustNot(t *testing.T) {
	for answer, forbids := range map[string]bool{
		"NOPERM this user has no permissions to run the 'config|get' command": true,
		"ERR unknown command 'CONFIG', with args beginning with: 'GET'":       true,
		"BUSY Redis is busy running a script":                                 false,
		"LOADING Redis is loading the dataset in memory":                      false,
		"MASTERDOWN Link with MASTER is down":                                 false,
		"ERR max number of clients reached":                                   false,
	} {
		sections, parameters := []string{"persistence"}, []string{"appendfsync"}
		s, err := redisnode.ReadSettings(t.Context(), secretive{answer}, sections, parameters)
		if s.Forbidden != forbids || (err == nil) != forbids {
			t.Errorf("%s: forbidden: %t, %v", answer, s.Forbidden, err)
		}
		if forbids && s.Info["aof_enabled"] != "1" {
			t.Errorf("%s: read %v", answer, s.Info)
		}
	}
}
