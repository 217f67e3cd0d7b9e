package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// What only a server bounds. Everything else in a request has the limits of lock/driver.
const (
	maxClient   = 128
	maxRenewals = 10_000
	defaultTTL  = 30 * time.Second
)

// requestOf reads a request and fills in what was left out.
func requestOf(m *bedrockv1.AcquireRequest) (driver.Request, error) {
	req, err := apiwire.RequestOf(m)
	if err != nil {
		return req, err
	}
	if req.Owner == "" {
		req.Owner = newOwner()
	}
	if m.GetTtl() == nil {
		req.TTL = defaultTTL
	}
	req.Tokens = max(req.Tokens, 1)
	wait := m.GetWait().AsDuration()
	if wait < 0 {
		return req, input.Errorf("wait", "%v is negative", wait)
	}
	req.Waits = req.Waits || wait > 0
	return req, req.Check()
}

// checkListen bounds what is kept for as long as somebody listens.
func checkListen(m *bedrockv1.ListenRequest) (driver.Kind, error) {
	if err := checkListener("client", m.GetClient()); err != nil {
		return 0, err
	}
	kind, err := apiwire.ListeningOf(m.GetMode())
	if err != nil {
		return kind, err
	}
	return kind, driver.CheckName(m.GetName())
}

// checkAttend bounds what is kept for as long as somebody attends.
func checkAttend(m *bedrockv1.AttendRequest) error {
	if err := checkListener("listener", m.GetListener()); err != nil {
		return err
	}
	return driver.CheckClient(m.GetClient())
}

// checkListener bounds what somebody listens as.
func checkListener(field, name string) error {
	if n := len(name); n > maxClient {
		return input.Errorf(field, "%d bytes: at most %d", n, maxClient)
	}
	return nil
}

// renewalOf reads one of the grants to be renewed.
func renewalOf(i int, m *bedrockv1.Grant) (driver.Grant, error) {
	where := fmt.Sprintf("grants[%d]", i)
	g, err := grantOf(where, m)
	if err != nil {
		return g, err
	}
	return g, inField(where, driver.CheckRest(g.TTL))
}

// grantOf reads a grant that stands in that field of the request.
func grantOf(where string, m *bedrockv1.Grant) (driver.Grant, error) {
	g, err := apiwire.GrantOf(m)
	if err == nil {
		err = g.Check()
	}
	return g, inField(where, err)
}

// inField says in which field of the request wrong input stands.
func inField(where string, err error) error {
	if wrong, ok := errors.AsType[*input.Error](err); ok {
		return &input.Error{Field: where + "." + wrong.Field, Problem: wrong.Problem}
	}
	return err
}
