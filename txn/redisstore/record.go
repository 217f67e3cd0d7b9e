package redisstore

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// fieldNames are the fields of a record's hash, in the order in which records
// are read and, with few exceptions, written.
func fieldNames() []string {
	return []string{
		"mode", "name", "digest", "created",
		"status", "parked", "waits", "owner", "epoch", "due", "deadline", "updated", "finished", "revision",
		"state", "spec",
	}
}

// blobs is how many of the fields, at the end, are left out of a brief record.
const blobs = 2

// unchangingValues are the values that never change.
func unchangingValues(rec *driver.Record) []string {
	return []string{rec.Mode, rec.Name, rec.Digest, stamp(rec.Created)}
}

// created is when a record was created, as its field says it.
func created(v driver.Version) string {
	if v.Created == 0 {
		return ""
	}
	return stamp(time.UnixMicro(v.Created))
}

// progress appends the values that change, all but the spec.
func progress(values []string, rec *driver.Record, revision int64) []string {
	return append(values,
		string(rec.Status), rec.Parked, rec.Waits, rec.Owner, number(rec.Epoch), stamp(rec.Due), stamp(rec.Deadline),
		stamp(rec.Updated), stamp(rec.Finished), number(revision), string(rec.State))
}

// parse makes a record of the values of its fields, the first of which is that; the blobs
// may be missing.
func parse(id string, values redisconn.Reply, first int) (*driver.Record, error) {
	p := parser{values: values, next: first}
	rec := &driver.Record{ID: id, Mode: p.nextText(), Name: p.nextText(), Digest: p.nextText(), Created: p.time()}
	rec.Status, rec.Parked, rec.Waits, rec.Owner = driver.Status(p.nextText()), p.nextText(), p.nextText(), p.nextText()
	rec.Epoch = p.number()
	rec.Due, rec.Deadline, rec.Updated, rec.Finished = p.time(), p.time(), p.time(), p.time()
	rec.Revision = p.number()
	if p.left() == blobs {
		rec.State, rec.Spec = p.blob(), p.blob()
	}
	if p.err != nil {
		return nil, fmt.Errorf("the record of %q is damaged: %w", id, p.err)
	}
	return rec, nil
}

// parser takes values one after the other. The first error counts.
type parser struct {
	values redisconn.Reply
	next   int
	err    error
}

func (p *parser) left() int { return p.values.Len() - p.next }

func (p *parser) nextText() string {
	if p.left() == 0 {
		p.err = errors.New("a field is missing")
		return ""
	}
	p.next++
	return p.values.At(p.next - 1).Str
}

func (p *parser) number() int64 {
	n, err := strconv.ParseInt(p.nextText(), 10, 64)
	if err != nil && p.err == nil {
		p.err = err
	}
	return n
}

func (p *parser) time() time.Time {
	t, err := parseStamp(p.nextText())
	if err != nil && p.err == nil {
		p.err = err
	}
	return t
}

func (p *parser) blob() []byte {
	if value := p.nextText(); value != "" {
		return []byte(value)
	}
	return nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// zeros fill up a stamp.
const zeros = "000000000000000000"

// stamp writes a time so that it sorts as text. The zero time is empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	micros := t.UnixMicro()
	digits := number(micros)
	if micros < 0 || len(digits) >= len(zeros) {
		return digits // before 1970: sorts before everything, and comes back as it is
	}
	return zeros[len(digits):] + digits
}

func parseStamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(micros).UTC(), nil
}
