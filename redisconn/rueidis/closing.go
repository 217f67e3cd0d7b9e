package rueidis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
)

// rueidis has one error for the end of a client and for that of its connections to a server
// that another has replaced. At the latter a request may have been sent, and the next one
// goes to the new server; and so may one that was under way at the former, which rueidis
// gives a second to be answered. What comes after it is told at once.

// atOnce is less than that second, and more than it takes to be told.
const atOnce = 500 * time.Millisecond

// judged puts the error of a request made then into its class, if the client was closed
// before.
func (c *conn) judged(sent time.Time, err error) error {
	if errors.Is(err, rueidis.ErrClosing) && time.Since(sent) < atOnce && c.closed() {
		return closed(err)
	}
	return err
}

// judgeAll does the same for many, and looks only once.
func (c *conn) judgeAll(sent time.Time, results []redisconn.Result) {
	soon, looked := time.Since(sent) < atOnce, false
	for i := range results {
		if !soon || !errors.Is(results[i].Err, rueidis.ErrClosing) {
			continue
		}
		if looked = looked || c.closed(); !looked {
			return
		}
		results[i].Err = closed(results[i].Err)
	}
}

func closed(err error) error { return redisconn.Mark(redisconn.Refused, err) }

// closed reports whether the client is. Whatever else becomes of the request, it is not.
func (c *conn) closed() bool {
	ctx, cancel := context.WithTimeout(context.Background(), proofTime)
	defer cancel()
	return errors.Is(c.client.Do(ctx, c.client.B().Ping().Build()).Error(), rueidis.ErrClosing)
}
