// Package dtm speaks to a DTM server over its HTTP API, as its SDKs do.
//
// Two things are left out that the SDKs do, both in favour of DTM: the identifiers
// are made here instead of asked for, and nothing is parsed that is not needed.
package dtm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client is a connection to a server.
type Client struct {
	base   string
	client *http.Client
}

// New returns a client of the server at address, such as http://127.0.0.1:36789.
func New(address string, client *http.Client) *Client {
	return &Client{base: strings.TrimSuffix(address, "/") + "/api/dtmsvr", client: client}
}

// Step is one participant's part of a saga, or one receiver of a message.
type Step struct {
	Action     string `json:"action"`
	Compensate string `json:"compensate,omitempty"`
}

// transaction is what the server takes.
type transaction struct {
	ID            string   `json:"gid"`
	Type          string   `json:"trans_type"`
	Protocol      string   `json:"protocol"`
	Steps         []Step   `json:"steps,omitempty"`
	Payloads      []string `json:"payloads,omitempty"`
	QueryPrepared string   `json:"query_prepared,omitempty"`
	WaitResult    bool     `json:"wait_result"`
}

// Saga submits a saga. With wait it returns when the saga has ended well.
func (c *Client) Saga(ctx context.Context, id string, steps []Step, payload string, wait bool) error {
	return c.post(ctx, "/submit", transaction{
		ID: id, Type: "saga", Protocol: "http", Steps: steps, Payloads: repeat(payload, len(steps)), WaitResult: wait,
	})
}

// Message prepares and submits a message, and returns when it was delivered.
func (c *Client) Message(ctx context.Context, id, query string, receivers []Step, payload string) error {
	t := transaction{
		ID: id, Type: "msg", Protocol: "http", Steps: receivers, Payloads: repeat(payload, len(receivers)),
		QueryPrepared: query, WaitResult: true,
	}
	if err := c.post(ctx, "/prepare", t); err != nil {
		return err
	}
	return c.post(ctx, "/submit", t)
}

// Branch is one participant's part of a TCC transaction.
type Branch struct{ Try, Confirm, Cancel string }

// TCC registers and tries all branches, and returns when they are confirmed.
func (c *Client) TCC(ctx context.Context, id string, branches []Branch, payload string) error {
	t := transaction{ID: id, Type: "tcc", Protocol: "http", WaitResult: true}
	if err := c.post(ctx, "/prepare", t); err != nil {
		return err
	}
	for i, b := range branches {
		if err := c.tryBranch(ctx, id, fmt.Sprintf("%02d", i+1), b, payload); err != nil {
			return err
		}
	}
	return c.post(ctx, "/submit", t)
}

// tryBranch registers a branch and calls its participant.
func (c *Client) tryBranch(ctx context.Context, id, branch string, b Branch, payload string) error {
	err := c.post(ctx, "/registerBranch", map[string]string{
		"gid": id, "trans_type": "tcc", "branch_id": branch, "data": payload, "confirm": b.Confirm, "cancel": b.Cancel,
	})
	if err != nil {
		return err
	}
	query := url.Values{"gid": {id}, "trans_type": {"tcc"}, "branch_id": {branch}, "op": {"try"}, "dtm": {c.base}}
	return c.postJSON(ctx, b.Try+"?"+query.Encode(), []byte(payload))
}

// Status returns the state of a transaction, such as succeed.
func (c *Client) Status(ctx context.Context, id string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/query?gid="+url.QueryEscape(id), nil)
	if err != nil {
		return "", err
	}
	text, err := c.doRequest(request)
	if err != nil {
		return "", err
	}
	var answer struct {
		Transaction struct {
			Status string `json:"status"`
		} `json:"transaction"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", fmt.Errorf("read answer of dtm: %w", err)
	}
	return answer.Transaction.Status, nil
}

// post calls a method of the API.
func (c *Client) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.postJSON(ctx, c.base+path, text)
}

// postJSON posts JSON.
func (c *Client) postJSON(ctx context.Context, address string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	_, err = c.doRequest(request)
	return err
}

// doRequest makes a request that must succeed.
func (c *Client) doRequest(request *http.Request) ([]byte, error) {
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read answer of %s: %w", request.URL.Path, err)
	}
	// A 200 whose body says otherwise is how its older servers refuse.
	if response.StatusCode != http.StatusOK || bytes.Contains(text, []byte("FAILURE")) ||
		bytes.Contains(text, []byte("ONGOING")) {
		return nil, fmt.Errorf("%s answered %s: %.200s", request.URL.Path, response.Status, text)
	}
	return text, nil
}

// repeat gives every step the same payload.
func repeat(payload string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = payload
	}
	return list
}
