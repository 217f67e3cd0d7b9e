package driver

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the columns of a record take, in bytes, in every store. Text is UTF-8 without
// zero bytes, which not every database keeps.
const (
	MaxID     = 255
	MaxMode   = 64
	MaxName   = 1024
	MaxDigest = 128
	MaxStatus = 16
	MaxParked = 8192
	MaxWaits  = 1024
	MaxOwner  = 1024
)

// Check says with ErrRefused which column of a record no store takes. Stores call it
// before they write.
func (r *Record) Check() error {
	for _, c := range [...]struct {
		field, value string
		most         int
	}{
		{"ID", r.ID, MaxID},
		{"mode", r.Mode, MaxMode},
		{"name", r.Name, MaxName},
		{"digest", r.Digest, MaxDigest},
		{"status", string(r.Status), MaxStatus},
		{"parking reason", r.Parked, MaxParked},
		{"target waited for", r.Waits, MaxWaits},
		{"owner", r.Owner, MaxOwner},
	} {
		switch {
		case len(c.value) > c.most:
			return fmt.Errorf("%w: %s of %d bytes: at most %d fit", ErrRefused, c.field, len(c.value), c.most)
		case !utf8.ValidString(c.value) || strings.IndexByte(c.value, 0) >= 0:
			return fmt.Errorf("%w: %s is no text: %.40q", ErrRefused, c.field, c.value)
		}
	}
	return nil
}
