package rueidis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// rueidis has one error for the end of a client and for that of its connections to a server
// that another has replaced. After the one nothing is ever done any more; at the other a
// request may have been sent, and the next one goes to the new server.

// judged puts the error of a client that is closed into its class.
func (c *conn) judged(err error) error {
	if errors.Is(err, rueidis.ErrClosing) && c.closed() {
		return closed(err)
	}
	return err
}

// judgeAll does the same for many, and looks only once.
func (c *conn) judgeAll(results []redislock.Result) {
	looked := false
	for i := range results {
		if !errors.Is(results[i].Err, rueidis.ErrClosing) {
			continue
		}
		if looked = looked || c.closed(); !looked {
			return
		}
		results[i].Err = closed(results[i].Err)
	}
}

func closed(err error) error { return fmt.Errorf("%w: %w", driver.ErrRefused, err) }

// closed tells whether the client is. Whatever else becomes of the request, it is not.
func (c *conn) closed() bool {
	ctx, cancel := context.WithTimeout(context.Background(), proofTime)
	defer cancel()
	return errors.Is(c.client.Do(ctx, c.client.B().Ping().Build()).Error(), rueidis.ErrClosing)
}
