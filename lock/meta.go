package lock

import (
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// encodeMeta writes what is stored beside a grant of the client.
func (c *Client) encodeMeta(extra map[string]string) string {
	return driver.EncodeMeta(processMeta(c.opts.Meta, extra))
}

// checkMeta refuses keys that are said of grants by this package.
func checkMeta(meta map[string]string) error {
	for key := range meta {
		if strings.HasPrefix(key, reservedMeta) {
			return input.Errorf("meta", "has the key %q: what begins with %s is reserved", key, reservedMeta)
		}
	}
	return nil
}

// processMeta describes this process, beside what else is said: whoever looks for a holder
// must find the process, so nothing else is called as its host and number are.
func processMeta(extras ...map[string]string) map[string]string {
	meta := make(map[string]string)
	for _, extra := range extras {
		maps.Copy(meta, extra)
	}
	meta["pid"] = strconv.Itoa(os.Getpid())
	if host, err := os.Hostname(); err == nil {
		meta["host"] = host
	}
	return meta
}
