package interop

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/lock"
)

// strangeNames are those that one of the two languages might spell in another way.
func strangeNames() []string {
	return []string{
		"job", "Job", "job ", " job", "j ob", "job/1", "job:1", "job*", "[job]", "job?", `job\`, `"job"`, "'job'",
		"%6aob",
		"{job}", "{job}:1", "{job}{other}", "a{job}", "caf\u00e9", "cafe\u0301", "\u212b", "\u00c5", "\u0130", "i",
		"\u9501", "\u0437\u0430\u043c\u043e\u043a", "\U0001f512", "\U0001f512\ufe0f", "\u200bjob", "job\u2003",
		strings.Repeat("n", 512), strings.Repeat("n", 511) + "m",
	}
}

// namesAreTheSame in both languages: Go is refused each name that Java holds, and none of the others; and Java what Go
// holds.
func namesAreTheSame(e *together) {
	names := strangeNames()
	for _, held := range names {
		e.java.Want("true", "a", "lock:try", encoded(held), 0)
		for _, name := range names {
			e.isFreeForGo(name, name != held)
		}
		e.java.Want("true", "a", "lock:unlock", encoded(held), 0)
		lease, err := e.locks.Mutex(held, nil).TryLock(e.Context())
		if err != nil {
			e.Fatalf("%q: %v", held, err)
		}
		e.java.Want("false", "a", "lock:try", encoded(held), 0)
		e.unlock(lease)
	}
}

// isFreeForGo checks whether Go can have a name now.
func (e *together) isFreeForGo(name string, free bool) {
	e.Helper()
	lease, err := e.locks.Mutex(name, nil).TryLock(e.Context())
	switch {
	case err == nil && free:
		e.unlock(lease)
	case err == nil:
		e.Errorf("%q: Go has what Java holds", name)
		e.unlock(lease)
	case free || !errors.Is(err, lock.ErrHeld):
		e.Errorf("%q: %v", name, err)
	}
}

// encoded is a name as one word.
func encoded(name string) string { return "=" + base64.StdEncoding.EncodeToString([]byte(name)) }
