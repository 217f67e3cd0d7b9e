package lanes_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

func TestLanesAndTheirHostsAreNamed(t *testing.T) {
	for _, test := range []struct {
		target     txn.Target
		name, host string
	}{
		{"stock.deduct", "stock.deduct", ""},
		{"https://stock/deduct", "https://stock/deduct", "stock"},
		{"https://stock:8443/deduct?id=1#part", "https://stock:8443/deduct", "stock:8443"},
		{"https://user@stock/deduct", "https://stock/deduct", "stock"},
		{"https://stock/a%2Fb", "https://stock/a%2Fb", "stock"},
		{"grpc://stock:50051/stock.Stock/Deduct", "grpc://stock:50051/stock.Stock/Deduct", "stock:50051"},
		{"async:https://stock/deduct?id=1", "async:https://stock/deduct", ""},
		{"async:stock.deduct", "async:stock.deduct", ""},
	} {
		name, host := lanes.NameOf(test.target)
		wantEqual(t, string(test.target), [2]string{name, host}, [2]string{test.name, test.host})
	}
}

// TestEveryStoreKeepsTheNamesOfLanes: whatever a target is, and different ones stay so.
func TestEveryStoreKeepsTheNamesOfLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		common := strings.Repeat("x", rapid.IntRange(0, 2*driver.MaxWaits).Draw(t, "common"))
		tail := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return string(b)
		}))
		a, b := common+tail.Draw(t, "a"), common+tail.Draw(t, "b")
		nameA, _ := lanes.NameOf(txn.Target(a))
		nameB, _ := lanes.NameOf(txn.Target(b))
		if len(nameA) > driver.MaxWaits || !utf8.ValidString(nameA) || strings.ContainsRune(nameA, 0) {
			t.Fatalf("%q is no name that every store keeps", nameA)
		}
		if a != b && nameA == nameB {
			t.Fatalf("%q and %q have one name", a, b)
		}
	})
}

func TestATargetHasOneLaneWhateverItsQuery(t *testing.T) {
	ls := lanes.New(1, 1, shortest, nil)
	if ls.Get("https://stock/deduct?id=1") != ls.Get("https://stock/deduct?id=2") {
		t.Error("two lanes for one target")
	}
	if ls.Get("https://stock/deduct") == ls.Get("https://stock/restore") {
		t.Error("one lane for two targets")
	}
}

// TestLanesThatNobodyUsesAreForgotten, but for those that are in use or down: they know
// what must not be forgotten.
func TestLanesThatNobodyUsesAreForgotten(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ls := lanes.New(1, 1, shortest, func(string, lanes.Change) {})
		used, dead := ls.Get("https://used/1"), ls.Get("https://dead/1")
		if err := used.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			ls.ReportCall(dead, 0, down)
		}
		for i := range 3 * lanes.ManyLanes {
			ls.Get(txn.Target(fmt.Sprintf("https://host%d/account", i)))
		}
		if ls.Get("https://used/1") != used || ls.Get("https://dead/1") != dead {
			t.Error("a lane was forgotten that is in use or down")
		}
		mustWait(t, ls.Get("https://used/2"))
		if kept, hosts := ls.Kept(); kept > lanes.ManyLanes || hosts > lanes.ManyLanes {
			t.Errorf("%d lanes and %d hosts are kept: want at most %d", kept, hosts, lanes.ManyLanes)
		}
	})
}

func TestOfALaneThatIsNotKnownNothingIsSaid(t *testing.T) {
	ls := lanes.New(1, 1, shortest, nil)
	ls.ReportSearch("unknown", false)
	if ls.IsDown("unknown") || ls.IsCrowded("unknown") {
		t.Error("a lane that nobody has used is down, or crowded")
	}
}
