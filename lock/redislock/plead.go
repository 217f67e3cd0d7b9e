package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// askedFirstWord begins what a holder is asked: its number, in how many ms, how many bytes the reason has, then the
// reason, and the name. Clients that do not know the word pass over it.
const askedFirstWord = "asked"

// Plead implements [driver.Pleader]. Where one server has all names, it counts those whose clients listen at this
// moment. In a cluster a message reaches all who listen, but the server that sends it counts only those at itself:
// there, everybody counts who has the lock by Bedrock, with metadata, and one whose connection is broken is among them.
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (told int, err error) {
	if told, err = b.plead(ctx, name, &p); err != nil {
		return 0, describe("ask for", name, err)
	}
	return told, nil
}

func (b *backend) plead(ctx context.Context, name string, p *driver.Plea) (int, error) {
	if b.scripts.plead == nil {
		return 0, fmt.Errorf("%w: messages to who has a lock", driver.ErrUnsupported)
	}
	if err := checkName(name, b.conn.Cluster()); err != nil {
		return 0, err
	}
	if err := driver.Refused(p.Check()); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, notSent(err)
	}
	within, cluster := "0", "0"
	if p.Within > 0 {
		within = milliseconds(p.Within)
	}
	if b.conn.Cluster() {
		cluster = "1"
	}
	reply, err := b.conn.Eval(ctx, b.scripts.plead, []string{name}, []string{within, p.Reason, cluster})
	return int(reply.Int), err
}

// hearAsked tells what a grant of this client is asked. What cannot be read was said by another program.
func (i *inbox) hearAsked(text string) {
	number, rest, _ := strings.Cut(text, " ")
	within, rest, _ := strings.Cut(rest, " ")
	size, rest, _ := strings.Cut(rest, " ")
	ms, errWithin := strconv.ParseInt(within, 10, 64)
	length, errSize := strconv.Atoi(size)
	if errWithin != nil || errSize != nil || length < 0 || length > len(rest) ||
		ms < 0 || ms > driver.MaxTTL.Milliseconds() {
		return
	}
	p := driver.Plea{Reason: rest[:length], Within: time.Duration(ms) * time.Millisecond}
	if p.Check() == nil {
		i.note(driver.Message{Name: rest[length:], Owner: i.client + number, Kind: driver.Asked, Plea: p})
	}
}
