package main

import (
	"context"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// quiet keeps libraries from writing logs of their own between the lines of a command:
// whatever matters to it comes back as an error, or is told in its own words. Only a
// server has a log, with the level and the form that its flags say.
func quiet() {
	redis.SetLogger(silence{})
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

type silence struct{}

// Printf drops the message.
func (silence) Printf(context.Context, string, ...any) {}
