package coord

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// byScheme finds callers by the schemes they name. Two for one scheme are refused, because
// nobody would have chosen which of them calls.
func byScheme(callers []txn.Caller) (map[string]txn.Caller, error) {
	found := make(map[string]txn.Caller)
	for i, caller := range callers {
		if caller == nil {
			return nil, &input.Error{Field: fmt.Sprintf("callers[%d]", i), Problem: "is nil"}
		}
		for _, scheme := range caller.Schemes() {
			if !isCallable(scheme) {
				problem := fmt.Sprintf("%.40q is no scheme of targets", scheme)
				return nil, &input.Error{Field: "callers", Problem: problem}
			}
			if found[scheme] != nil {
				return nil, input.Errorf("callers", "two callers for %s targets", scheme)
			}
			found[scheme] = caller
		}
	}
	return found, nil
}

// isCallable reports whether there can be targets of a scheme that a caller is for.
func isCallable(scheme string) bool {
	t := txn.Target(scheme + ":x")
	return check.Target(t) == nil && t.Scheme() == scheme && scheme != txn.SchemeAsync && scheme != txn.SchemeTopic
}

// checkScheme refuses a scheme that none of the callers here has named: they are the one
// list of schemes.
func (c *Coordinator) checkScheme(scheme string) error {
	if c.callers[scheme] != nil {
		return nil
	}
	has := "functions only"
	if len(c.callers) > 0 {
		has = "functions and targets of " + strings.Join(slices.Sorted(maps.Keys(c.callers)), ", ")
	}
	return fmt.Errorf("this coordinator does not call %s targets; it calls %s", scheme, has)
}
