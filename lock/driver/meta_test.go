package driver_test

import (
	"maps"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestMetadataIsReadAsSomethingElse than what was written, by us or by others.
func TestMetadataIsReadAsSomethingElse(t *testing.T) {
	for _, meta := range []map[string]string{nil, {"a": "b", "<": "\"&\n"}, {"meta": "x"}} {
		if got := driver.DecodeMeta(driver.EncodeMeta(meta)); !maps.Equal(got, meta) {
			t.Errorf("%v became %v", meta, got)
		}
	}
	for _, text := range []string{"by hand", `{"n": 1}`, `[]`, `{"a": "b"} c`} {
		if got := driver.DecodeMeta(text); len(got) != 1 || got["meta"] != text {
			t.Errorf("%s became %v", text, got)
		}
	}
	if got := driver.DecodeMeta(""); got != nil {
		t.Errorf("nothing became %v", got)
	}
}
