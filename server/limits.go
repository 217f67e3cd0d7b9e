package server

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
)

// Limits protects a server from its clients. Zero fields mean the defaults.
type Limits struct {
	// Body bounds a request, in bytes. Default 2 MiB.
	Body int
	// BodyTime bounds how long a request may take to arrive. Default 30 s.
	BodyTime time.Duration
	// Rate is how many requests a second one client may make for long. A client is a
	// token, or an address where there are none. Default 50,000; -1: no limit.
	Rate int
	// Burst is how many it may make at once. Default: one second's worth.
	Burst int
	// Requests bounds the calls under way; one client has room for half of them.
	// Default 10,000.
	Requests int
	// Streams bounds those who watch and listen. Default 10,000.
	Streams int
	// StreamsEach bounds those of one client. Default half of Streams.
	StreamsEach int
	// Wait is how long a call waits for an outcome or a lock before it answers that
	// it is still waiting. Default 1 min.
	Wait time.Duration
	// Slow is how long one message of a stream may take to be taken by a client, and the
	// answer to a call after the longest a call may take. Default 10 s.
	Slow time.Duration
}

func (l *Limits) withDefaults() Limits {
	var r Limits
	if l != nil {
		r = *l
	}
	r.Body = cmp.Or(r.Body, 2<<20)
	r.BodyTime = cmp.Or(r.BodyTime, 30*time.Second)
	r.Rate = cmp.Or(r.Rate, 50_000)
	r.Burst = cmp.Or(r.Burst, max(r.Rate, 1))
	r.Requests = cmp.Or(r.Requests, 10_000)
	r.Streams = cmp.Or(r.Streams, 10_000)
	r.StreamsEach = cmp.Or(r.StreamsEach, max(r.Streams/2, 1))
	r.Wait = cmp.Or(r.Wait, time.Minute)
	r.Slow = cmp.Or(r.Slow, 10*time.Second)
	return r
}

// limit is a limit under the name it has for people.
type limit struct {
	name, means string
	least       int64
	count       *int // or
	time        *time.Duration
}

func (l *Limits) named() []limit {
	ms := int64(time.Millisecond)
	return []limit{
		{"body", "bytes of a request", 1 << 10, &l.Body, nil},
		{"body-time", "how long a request may take to arrive", ms, nil, &l.BodyTime},
		{"rate", "requests a second of one client; -1: no limit", -1, &l.Rate, nil},
		{"burst", "requests of one client at once", 1, &l.Burst, nil},
		{"requests", "calls under way", 1, &l.Requests, nil},
		{"streams", "those who watch and listen", 1, &l.Streams, nil},
		{"streams-per-client", "those of one client", 1, &l.StreamsEach, nil},
		{"wait", "how long a call waits for an outcome or a lock", ms, nil, &l.Wait},
		{"slow", "how long a client may take to take one message", ms, nil, &l.Slow},
	}
}

func (l *limit) value() int64 {
	if l.count != nil {
		return int64(*l.count)
	}
	return int64(*l.time)
}

// text is a value as [Limits.Set] takes it.
func (l *limit) text(value int64) string {
	if l.count != nil {
		return strconv.FormatInt(value, 10)
	}
	return time.Duration(value).String()
}

// most is the largest value with which sums do not overflow.
func (l *limit) most() int64 {
	if l.count != nil {
		return 1 << 30
	}
	return int64(24 * time.Hour)
}

func (l *limit) check() error {
	if v := l.value(); v < l.least || v > l.most() {
		return l.invalid("%s: want %s to %s", l.text(v), l.text(l.least), l.text(l.most()))
	}
	return nil
}

func (l *limit) invalid(format string, args ...any) error {
	return input.Errorf("limit "+l.name, format, args...)
}

func (l *Limits) check() error {
	for _, one := range l.named() {
		if err := one.check(); err != nil {
			return err
		}
	}
	return nil
}

// LimitInfo describes a limit that [Limits.Set] knows.
type LimitInfo struct{ Name, Means, Default string }

// AllLimits lists them.
func AllLimits() []LimitInfo {
	var l *Limits
	defaults := l.withDefaults()
	var infos []LimitInfo
	for _, one := range defaults.named() {
		infos = append(infos, LimitInfo{one.name, one.means, one.text(one.value())})
	}
	return infos
}

// Set sets the limit of a name to what a text says: a number, or a duration such as 10s.
// On an error, an *input.Error, nothing has changed.
func (l *Limits) Set(name, text string) error {
	next := *l
	for _, one := range next.named() {
		if one.name != name {
			continue
		}
		if err := one.parse(text); err != nil {
			return err
		}
		*l = next
		return nil
	}
	var names []string
	for _, one := range next.named() {
		names = append(names, one.name)
	}
	return input.Errorf("limit", "there is none called %.40q%s; there are %s",
		name, nearest.Hint(name, names), strings.Join(names, ", "))
}

func (l *limit) parse(text string) (err error) {
	want := "a number"
	if l.count != nil {
		*l.count, err = strconv.Atoi(text)
	} else {
		want = "a duration such as 10s"
		*l.time, err = time.ParseDuration(text)
	}
	if err != nil {
		return l.invalid("%.40q: want %s", text, want)
	}
	if l.value() == 0 { // as a field it would mean the default
		return l.invalid("%.40q: want something else than zero", text)
	}
	return l.check()
}
