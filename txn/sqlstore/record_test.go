package sqlstore

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestStatementsKnowOtherStatuses: their lists are constants, because statements are, and
// stand beside those of package driver.
func TestStatementsKnowOtherStatuses(t *testing.T) {
	var over, open []string
	for _, s := range driver.Statuses() {
		if s.Final() {
			over = append(over, "'"+string(s)+"'")
		} else {
			open = append(open, "'"+string(s)+"'")
		}
	}
	for have, want := range map[string][]string{finals: over, underWay: open} {
		if list := "(" + strings.Join(want, ", ") + ")"; have != list {
			t.Errorf("statements say %s, package driver %s", have, list)
		}
	}
	for _, s := range driver.Statuses() {
		if one := "WHERE status = '" + string(s) + "'"; strings.Contains(oldest, one) == s.Final() {
			t.Errorf("the oldest is looked for among %s: %v", s, s.Final())
		}
	}
}
