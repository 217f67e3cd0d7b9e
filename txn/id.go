package txn

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// NewID makes an ID that sorts roughly by time, which is kind to indexes, and
// cannot be guessed.
func NewID() string {
	var raw [15]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(time.Now().UnixMicro())<<8)
	_, _ = rand.Read(raw[7:]) // it never fails
	return strings.ToLower(base32.HexEncoding.EncodeToString(raw[:]))
}
