package httpclients

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
)

// careless promises nothing.
type careless struct{ address string }

func openCareless(address string) (Client, error) { return careless{address}, nil }

func (c careless) Post(ctx context.Context) (Reply, error) {
	reply, err := c.post()
	if err != nil && ctx.Err() == nil {
		return c.post()
	}
	return reply, err
}

func (c careless) post() (Reply, error) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		return Reply{}, err
	}
	defer conn.Close()
	r, err := http.NewRequest(http.MethodPost, "http://"+c.address+path, strings.NewReader(string(payload())))
	if err != nil {
		return Reply{}, err
	}
	if err := r.Write(conn); err != nil {
		return Reply{}, err
	}
	reply, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return Reply{}, err
	}
	defer reply.Body.Close()
	body, _ := io.ReadAll(reply.Body)
	return Reply{Status: reply.StatusCode, Body: body}, nil
}

func (careless) Do(*http.Request) (*http.Response, error) { return nil, http.ErrNotSupported }
func (careless) Close()                                   {}
