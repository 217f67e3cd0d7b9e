package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
)

// TestDrawingsStayInTheirFrame draws whatever may have happened.
func TestDrawingsStayInTheirFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := transactions().Draw(t, "transaction")
		both := drawings(drawn)
		if len(drawn.Attempts) == 0 {
			if both != nil {
				t.Fatal("something is drawn although nothing has happened")
			}
			return
		}
		staysInItsFrame(t, drawn, both.Wide)
		staysInItsFrame(t, drawn, both.Narrow)
	})
}

func staysInItsFrame(t *rapid.T, drawn *txn.Transaction, tl *timeline) {
	left, right, bars := float64(tl.plotLeft), float64(tl.Right), 0
	for _, l := range tl.Lanes {
		for _, b := range l.Bars {
			bars++
			if b.X < left || b.X > right || b.Width < barLeast || b.X+b.Width > right+barLeast {
				t.Fatalf("bar from %v, wide %v", b.X, b.Width)
			}
			if b.Y < l.Y || b.Y+barHeight > l.LineY || b.Y+barHeight > tl.Bottom {
				t.Fatalf("bar at %d in lane %d", b.Y, l.Y)
			}
		}
	}
	if len(tl.Lanes) > mostLanes || len(tl.Ticks) > tl.mostTicks+1 {
		t.Fatalf("%d lanes, %d ticks", len(tl.Lanes), len(tl.Ticks))
	}
	if tl.Omitted == 0 && bars != calls(drawn) {
		t.Fatalf("%d bars for %d calls", bars, calls(drawn))
	}
	for i := 1; i < len(tl.Ticks); i++ {
		if tl.Ticks[i].X <= tl.Ticks[i-1].X || tl.Ticks[i].Label == tl.Ticks[i-1].Label {
			t.Fatalf("ticks %+v", tl.Ticks)
		}
	}
}

// calls counts the bars that a transaction has.
func calls(t *txn.Transaction) (n int) {
	for i := range t.Attempts {
		switch a := &t.Attempts[i]; {
		case a.Number > 0 && a.Times() > 1:
			n += 3 // the first, the last, and what joins them
		case a.Number > 0:
			n++
		}
	}
	return n
}

func transactions() *rapid.Generator[*txn.Transaction] {
	return rapid.Custom(func(t *rapid.T) *txn.Transaction {
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		made := &txn.Transaction{Created: from}
		for i := range rapid.IntRange(1, 80).Draw(t, "branches") {
			made.Branches = append(made.Branches, txn.Branch{ID: fmt.Sprint("branch-", i)})
		}
		longest := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Minute, 400 * 24 * time.Hour}).Draw(t,
			"longest")
		span := rapid.Int64Range(-1000, int64(longest))
		for range rapid.IntRange(0, 20).Draw(t, "attempts") {
			made.Attempts = append(made.Attempts, txn.Attempt{
				Branch: rapid.SampledFrom(made.Branches).Draw(t, "branch").ID,
				Op:     rapid.SampledFrom([]string{"action", "compensate"}).Draw(t, "op"),
				Number: rapid.IntRange(0, 3).Draw(t, "number"),
				At:     from.Add(time.Duration(span.Draw(t, "at"))), Took: time.Duration(max(span.Draw(t, "took"), 0)),
				Count: rapid.IntRange(0, 3).Draw(t, "count"), Until: from.Add(time.Duration(span.Draw(t, "until"))),
			})
		}
		if rapid.Bool().Draw(t, "decided") {
			made.Decided = from.Add(time.Duration(span.Draw(t, "decision")))
		}
		return made
	})
}

func TestDurationsAreBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 µs", 1500 * time.Microsecond: "1.5 ms", 12 * time.Millisecond: "12 ms",
		1500 * time.Millisecond: "1.5 s",
		59 * time.Second:        "59 s", 90 * time.Second: "1 min 30 s", 3700 * time.Second: "1 h 01 min",
		50 * time.Hour: "2 d 2 h",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestBodiesAreShownAsWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		content []byte
		want    string
		cut     bool
	}{
		{[]byte(`{"a":[1]}`), "{\n  \"a\": [\n    1\n  ]\n}", false},
		{[]byte("plain <b>"), "plain <b>", false},
		{[]byte{0xff, 0x00}, "ff 00", false},
		{bytes.Repeat([]byte("ä"), mostBody), strings.Repeat("ä", mostBody/2), true},
		{append([]byte("x"), bytes.Repeat([]byte("ä"), mostBody)...), "x" + strings.Repeat("ä", mostBody/2-1), true},
	} {
		if got := bodyOf(c.content); got.Text != c.want || got.Cut != c.cut {
			t.Errorf("%.20q: shown as %.60q (cut: %v)", c.content, got.Text, got.Cut)
		}
	}
}

// TestDeepJSONIsNotIndented would need gigabytes if it was.
func TestDeepJSONIsNotIndented(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if got := bodyOf([]byte(deep)); got.Text != deep {
		t.Errorf("shown in %d bytes", len(got.Text))
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1\u2009000", 1234567: "1\u2009234\u2009567", -1000: "-1\u2009000",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
