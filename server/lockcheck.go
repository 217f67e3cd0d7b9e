package server

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// What a request for a lock may ask for; names and times as in package lock.
const (
	maxLockName = 512
	maxMeta     = 4 << 10
	maxClient   = 128
	maxTokens   = 1 << 16
	maxRenewals = 10_000
	minTTL      = 10 * time.Millisecond
	minRest     = time.Millisecond // of a lock that is kept for its minimum hold time
	maxTTL      = 24 * time.Hour
	defaultTTL  = 30 * time.Second
)

// requestOf reads a request and fills in what was left out.
func requestOf(m *bedrockv1.AcquireRequest) (driver.Request, error) {
	req := driver.Request{
		Name: m.GetName(), Owner: m.GetOwner(), Mode: driver.Exclusive, TTL: m.GetTtl().AsDuration(),
		Tokens: max(int(m.GetTokens()), 1), Meta: m.GetMeta(),
	}
	if req.Owner == "" {
		req.Owner = newOwner()
	}
	if m.GetTtl() == nil {
		req.TTL = defaultTTL
	}
	switch {
	case req.Tokens > maxTokens:
		return req, problem("tokens", "%d: at most %d", req.Tokens, maxTokens)
	case len(req.Meta) > maxMeta:
		return req, problem("meta", "%d bytes: at most %d", len(req.Meta), maxMeta)
	case m.GetWait().AsDuration() < 0:
		return req, problem("wait", "%v is negative", m.GetWait().AsDuration())
	}
	return req, checkHold("", req.Name, req.Owner, req.TTL, minTTL)
}

// checkListen bounds what is kept for as long as somebody listens.
func checkListen(m *bedrockv1.ListenRequest) error {
	if n := len(m.GetClient()); n > maxClient {
		return problem("client", "%d bytes: at most %d", n, maxClient)
	}
	return checkName("name", m.GetName())
}

// checkRenewal says what is wrong with one of the grants to be renewed.
func checkRenewal(i int, g driver.Grant) error {
	return checkHold(fmt.Sprintf("grants[%d].", i), g.Name, g.Owner, g.TTL, minRest)
}

func checkHold(where, name, owner string, ttl, least time.Duration) error {
	if err := checkName(where+"name", name); err != nil {
		return err
	}
	if err := checkOwner(where+"owner", owner); err != nil {
		return err
	}
	if ttl < least || ttl > maxTTL {
		return problem(where+"ttl", "%v: want %v to %v", ttl, least, maxTTL)
	}
	return nil
}

func checkGrant(where string, m *bedrockv1.Grant) error {
	if err := checkName(where+".name", m.GetName()); err != nil {
		return err
	}
	return checkOwner(where+".owner", m.GetOwner())
}

// checkOwner accepts whom every store can tell from what it keeps beside owners.
func checkOwner(field, owner string) error {
	if wrong := driver.OwnerProblem(owner); wrong != "" {
		return problem(field, "%s", wrong)
	}
	return nil
}

// checkName accepts what every store can keep apart.
func checkName(field, text string) error {
	switch {
	case text == "":
		return problem(field, "is empty")
	case len(text) > maxLockName:
		return problem(field, "%d bytes: at most %d", len(text), maxLockName)
	case !utf8.ValidString(text):
		return problem(field, "is not valid UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return problem(field, "has a control character")
	}
	return nil
}

func problem(field, format string, args ...any) error {
	return &txn.FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}
