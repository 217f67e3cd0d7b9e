package mincoord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Saga is what a client sends.
type Saga struct {
	ID      string          `json:"id"`
	Steps   []Step          `json:"steps"`
	Payload json.RawMessage `json:"payload"`
}

// Step is one participant's part.
type Step struct {
	Action     string `json:"action"`
	Compensate string `json:"compensate"`
}

// coordinator answers requests.
type coordinator struct {
	log    *log
	client *http.Client
}

// limit bounds requests and replies.
const limit = 1 << 20

// ServeHTTP runs one saga.
func (c *coordinator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err == nil {
		err = c.run(r.Context(), body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	_, _ = io.WriteString(w, `{"outcome":"committed"}`)
}

// run makes the saga durable, calls its participants and makes its end durable.
func (c *coordinator) run(ctx context.Context, body []byte) error {
	var s Saga
	if err := json.Unmarshal(body, &s); err != nil {
		return fmt.Errorf("read saga: %w", err)
	}
	if err := c.log.append(body); err != nil {
		return err
	}
	for _, step := range s.Steps {
		if err := c.callParticipant(ctx, step.Action, s.Payload); err != nil {
			return err
		}
	}
	return c.log.append([]byte(s.ID + " committed"))
}

// callParticipant calls one participant.
func (c *coordinator) callParticipant(ctx context.Context, url string, payload []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	request.Header["Content-Type"] = []string{"application/json"}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, limit)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}
