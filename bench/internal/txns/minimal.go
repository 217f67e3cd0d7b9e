package txns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/mincoord"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// minimalSystem is the minimal coordinator.
type minimalSystem struct {
	process *child.Process
	place   *place
	url     string
	client  *http.Client
	ids     atomic.Int64
}

func (b *bed) startMinimal(ctx context.Context, profile string) (system, error) {
	p, err := b.place(ctx, "log")
	if err != nil {
		return nil, err
	}
	var ready mincoord.Ready
	process, err := child.Start(ctx, mincoord.Role, mincoord.Job{Dir: p.url, Profile: profile}, &ready)
	if err != nil {
		p.drop()
		return nil, err
	}
	return &minimalSystem{process: process, place: p, url: ready.URL, client: b.client}, nil
}

// doer knows sagas.
func (s *minimalSystem) doer(m mode, addr string) (load.Do, error) {
	if m != saga {
		return nil, unfit("the minimal coordinator", m)
	}
	steps := []mincoord.Step{
		{Action: participants.First(addr, "action"), Compensate: participants.First(addr, "compensate")},
		{Action: participants.Last(addr, "action"), Compensate: participants.Last(addr, "compensate")},
	}
	return func(ctx context.Context, _ int) error {
		body, err := json.Marshal(mincoord.Saga{
			ID: strconv.FormatInt(s.ids.Add(1), 10), Steps: steps, Payload: json.RawMessage(orders.Payload),
		})
		if err != nil {
			return err
		}
		return post(ctx, s.client, s.url, body)
	}, nil
}

// errUnfit is what the minimal coordinator says to what it leaves out.
var errUnfit = errors.New("the minimal coordinator recovers nothing")

func (s *minimalSystem) submitSaga(context.Context, int, int, string) error { return errUnfit }

func (s *minimalSystem) finished(context.Context, int) (int, error) { return 0, errUnfit }

func (s *minimalSystem) processes() (coordinator, store []int) { return []int{s.process.ID()}, nil }

func (s *minimalSystem) stop() error {
	s.client.CloseIdleConnections() // or it would wait for them
	defer s.place.drop()
	return s.process.Stop()
}

// post sends JSON and wants a 200.
func post(ctx context.Context, client *http.Client, url string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header["Content-Type"] = []string{"application/json"}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return nil
}
