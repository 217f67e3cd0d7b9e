package redisnode

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/redisconn"
)

// Scan says which keys of a server are wanted.
type Scan struct {
	Prefix string // begins each of them
	Type   string // of what they hold, such as "hash"; any where it is empty
	Batch  int    // how many keys the server looks at before it serves others
}

// Keys goes through the keys that a server has all the while; of others there may be some.
// Redis may name a key twice. An error ends it.
func (s Scan) Keys(ctx context.Context, n redisconn.Node) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for cursor := "0"; ; {
			page, err := n.Do(ctx, s.pageAt(cursor)...)
			if err == nil && page.Len() != 2 {
				err = fmt.Errorf("SCAN was answered with %d items, not 2", page.Len())
			}
			if err != nil {
				yield("", err)
				return
			}
			for keys, i := page.At(1), 0; i < keys.Len(); i++ {
				if !yield(keys.At(i).Str, nil) {
					return
				}
			}
			if cursor = page.At(0).Str; cursor == "0" {
				return
			}
		}
	}
}

// pageAt is the command that asks for the keys at a cursor.
func (s Scan) pageAt(cursor string) []string {
	words := []string{"SCAN", cursor, "MATCH", escapePattern(s.Prefix) + "*", "COUNT", strconv.Itoa(s.Batch)}
	if s.Type != "" {
		words = append(words, "TYPE", s.Type)
	}
	return words
}

// escapePattern makes a text stand for itself in a pattern. What has a meaning within
// brackets has none without them.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
