package deffile_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

// TestNoNumberLosesDigits: those that JSON does not spell so were rounded to what a double holds.
func TestNoNumberLosesDigits(t *testing.T) {
	for written, want := range map[string]string{
		"12345678901234567890123":        "12345678901234567890123",
		"+12345678901234567890123":       "12345678901234567890123",
		"12_345_678_901_234_567_890_123": "12345678901234567890123",
		"+0.12345678901234567890123":     "0.12345678901234567890123",
		"9_007_199_254_740_993.5":        "9007199254740993.5",
		".10000000000000000000000000001": "0.10000000000000000000000000001",
		"-.5":                            "-0.5",
		"12345678901234567890123.":       "12345678901234567890123",
		"+12345678901234567.e3":          "12345678901234567e3",
		"18_446_744_073_709_551_615":     "18446744073709551615",
		"-9_223_372_036_854_775_809":     "-9223372036854775809",
		"0xFFFFFFFFFFFFFFFF":             "18446744073709551615",
		"0b1111111111111111111111111111": "268435455",
	} {
		text := "mode: saga\nsteps: [{id: a, action: pay}]\npayload: {order: " + written + "}\n"
		d, err := deffile.Parse("order.yaml", []byte(text))
		if got := string(d.Payload); err != nil || got != `{"order":`+want+`}` {
			t.Errorf("%s became %s %v", written, got, err)
		}
	}
}
