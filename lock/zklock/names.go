package zklock

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// layout says where the locks are.
type layout struct {
	base    string // chroot and root
	profile Profile
}

// pathOf returns the folder of a lock.
func (l *layout) pathOf(name string) (string, error) {
	if l.profile != Escaped {
		path := l.base + "/" + name
		if err := checkPath("name", path); err != nil {
			return "", driver.Refused(err)
		}
		return path, nil
	}
	return l.base + "/" + escape(name), nil
}

// isPlain reports whether a byte stays as it is in an element of a path. What is beyond ASCII does not: some of it is
// refused by the servers.
func isPlain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.:@=+,", c) >= 0
}

// escape makes one element of a path of any text. An element of one or two dots is none, so a first dot is escaped,
// too.
func escape(name string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if isPlain(c) && (i > 0 || c != '.') {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// unescape returns the text that escape has made an element of; of nothing else is there one.
func unescape(element string) (name string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(element); i++ {
		if element[i] != '%' {
			b.WriteByte(element[i])
			continue
		}
		if i+2 >= len(element) {
			return "", false
		}
		c, err := strconv.ParseUint(element[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	name = b.String()
	return name, escape(name) == element && driver.CheckName(name) == nil
}

// checkPath says what is no path of ZooKeeper.
func checkPath(field, path string) error {
	if !strings.HasPrefix(path, "/") || len(path) < 2 {
		return input.Errorf(field, "%q is no path: want one such as /app/locks", path)
	}
	if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
		return input.Errorf(field, "%q is kept by ZooKeeper for itself", path)
	}
	for element := range strings.SplitSeq(path[1:], "/") {
		switch element {
		case "":
			return input.Errorf(field, "%q is no path: it has an empty element", path)
		case ".", "..":
			return input.Errorf(field, "%q is no path: it has the element %s", path, element)
		}
	}
	if !utf8.ValidString(path) {
		return input.Errorf(field, "%q is not valid UTF-8", path)
	}
	for _, r := range path {
		if isUnfit(r) {
			return input.Errorf(field, "%q has %U, which no path of ZooKeeper has", path, r)
		}
	}
	return nil
}

// isUnfit reports whether the servers take no path with a character. They look at halves of what is beyond 16 bits.
func isUnfit(r rune) bool {
	return r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}
