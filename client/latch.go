package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// SetLatch implements [driver.Latches].
func (b *backend) SetLatch(ctx context.Context, name, id string, count int) (bool, error) {
	if err := checkChange(name, id, "count", count); err != nil {
		return false, fmt.Errorf("set latch %q: %w", name, err)
	}
	req := &bedrockv1.SetLatchRequest{Name: name, Id: id, Count: uint32(count)}
	res, err := underID(ctx, b.client, b.client.locks.SetLatch, req)
	if err != nil {
		return false, newerError("set latch", name, err)
	}
	return res.GetSet(), nil
}

// CountDown implements [driver.Latches].
func (b *backend) CountDown(ctx context.Context, name, id string, by int) (int, error) {
	if err := checkChange(name, id, "by", by); err != nil {
		return 0, fmt.Errorf("count down %q: %w", name, err)
	}
	req := &bedrockv1.CountDownRequest{Name: name, Id: id, By: uint32(by)}
	res, err := underID(ctx, b.client, b.client.locks.CountDown, req)
	if err != nil {
		return 0, newerError("count down", name, err)
	}
	return int(res.GetLeft()), nil
}

// underID is twice for a call that the server knows again by its ID. After a first try without an answer the second one
// does not say that nothing has happened, unless the server itself does.
func underID[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	res, err := tryOnce(ctx, c, callTime/firstShare, do, req)
	if !errors.Is(err, errUnheard) {
		return res, err
	}
	res, err = tryOnce(ctx, c, callTime, do, req)
	if errors.Is(lockError("", "", err), driver.ErrUnavailable) {
		return nil, fmt.Errorf("%w, and then: %s", errUnheard, err.Error()) // of another class
	}
	return res, err
}

// checkChange refuses what must not be sent: without an ID the server would make one up, and the call could not be
// repeated; and a message has no room for every number.
func checkChange(name, id, field string, count int) error {
	err := driver.CheckName(name)
	if id == "" {
		err = &input.Error{Field: "id", Problem: "is empty"}
	}
	if err == nil {
		err = driver.CheckCount(field, count)
	}
	return driver.Refused(err)
}

// LatchCount implements [driver.Latches].
func (b *backend) LatchCount(ctx context.Context, name string) (int, error) {
	res, err := twice(ctx, b.client, b.client.locks.LatchCount, &bedrockv1.LatchCountRequest{Name: name})
	if err != nil {
		return 0, newerError("latch count of", name, err)
	}
	return int(res.GetCount()), nil
}

// DropLatch implements [driver.Latches].
func (b *backend) DropLatch(ctx context.Context, name string) (bool, error) {
	req := &bedrockv1.DropLatchRequest{Name: name} // asked again it would find nothing
	res, err := tryOnce(ctx, b.client, callTime, b.client.locks.DropLatch, req)
	if err != nil {
		return false, newerError("drop latch", name, err)
	}
	return res.GetDropped(), nil
}

// neverHeardOfLatches tells of a server that knows no latch to listen for, and refuses the word as a mode.
func neverHeardOfLatches(kind driver.Kind, err error) error {
	if wrong, ok := errors.AsType[*input.Error](err); ok && kind == driver.Latch && wrong.Field == "mode" {
		return fmt.Errorf("watch: %w: the server has not heard of latches", driver.ErrUnsupported)
	}
	return err
}
