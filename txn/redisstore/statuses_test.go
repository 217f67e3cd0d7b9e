package redisstore

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestScriptsKnowOtherFinalStatuses: their list stands beside that of package driver.
func TestScriptsKnowOtherFinalStatuses(t *testing.T) {
	text, err := os.ReadFile("scripts/places.lua")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`local final = \{(.*)\}`).FindSubmatch(text)
	if list == nil {
		t.Fatal("no list is found")
	}
	var known, want []string
	for _, word := range regexp.MustCompile(`\['(.+?)'\] = true`).FindAllSubmatch(list[1], -1) {
		known = append(known, string(word[1]))
	}
	for _, s := range driver.Statuses() {
		if s.Final() {
			want = append(want, string(s))
		}
	}
	if !slices.Equal(known, want) {
		t.Errorf("places.lua takes %q for final, package driver %q", known, want)
	}
}
