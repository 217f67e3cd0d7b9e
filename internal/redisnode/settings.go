// Package redisnode asks a single Redis server for what lies beside its locks and
// transactions: how it is set up, and which keys it has.
package redisnode

import (
	"context"
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/redisconn"
)

// Settings are what a server says of how it is set up.
type Settings struct {
	Info      map[string]string // the fields of INFO
	Config    map[string]string // the parameters that it has
	Forbidden bool              // to read Config
}

// ReadSettings reads sections of INFO, and parameters of CONFIG where that is allowed: who
// hosts a server may not let others read them. One that cannot tell just now is an error.
func ReadSettings(ctx context.Context, n redisconn.Node, sections, parameters []string) (Settings, error) {
	s := Settings{Info: make(map[string]string), Config: make(map[string]string)}
	for _, section := range sections {
		answer, err := n.Do(ctx, "INFO", section)
		if err != nil {
			return Settings{}, err
		}
		s.addInfo(answer.Str)
	}
	for _, name := range parameters {
		answer, err := n.Do(ctx, "CONFIG", "GET", name)
		if Refuses(err) {
			s.Forbidden = true
			return s, nil
		}
		if err != nil {
			return Settings{}, err
		}
		if answer.Len() == 2 {
			s.Config[name] = answer.At(1).Str
		}
	}
	return s, nil
}

func (s *Settings) addInfo(text string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			s.Info[name] = value
		}
	}
}

// Refuses reports whether a server has answered that it does not do what was asked, and
// will not when it is asked again.
func Refuses(err error) bool {
	_, answered := errors.AsType[*redisconn.ReplyError](err)
	after := redisconn.AftermathOf(err)
	return answered && (after == redisconn.Refused || after == redisconn.Failed)
}
