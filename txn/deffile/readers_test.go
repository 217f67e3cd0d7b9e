package deffile_test

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn/deffile"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// TestModesThatNoFileCanSay: whatever mode there is can be written down.
func TestModesThatNoFileCanSay(t *testing.T) {
	for _, mode := range modes.Names() {
		_, err := deffile.Parse("f.yaml", []byte("mode: "+mode))
		if err == nil || strings.Contains(err.Error(), "is not known") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
