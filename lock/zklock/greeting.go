package zklock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// The answer to the first request begins with its length. The library makes room for whatever comes there, which of
// other servers are letters: for more than a gigabyte.
const (
	lengthEnd     = 4
	longestAnswer = 256
)

// checkAnswer says why there is no answer to the first request, or that it is none of ZooKeeper; nil if it is one, or
// may become one. The error is that of reading it.
func (l *link) checkAnswer(err error) error {
	l.mu.Lock()
	answer := l.answer
	l.mu.Unlock()
	var problem string
	switch {
	case len(answer) >= handshake:
		return nil
	case len(answer) >= lengthEnd && !isLengthOfAnswer(answer):
		problem = fmt.Sprintf("does not speak ZooKeeper's protocol: what it says begins with %q", answer)
	case errors.Is(err, os.ErrDeadlineExceeded):
		problem = "accepts connections and does not answer: it is no ZooKeeper, or it hangs"
	case err != nil:
		problem = "closes connections without an answer: it is no ZooKeeper, or does not serve yet, or wants TLS"
	default:
		return nil
	}
	failed := fmt.Errorf("%s %s", l.address, problem)
	l.tell(failed)
	return failed
}

// isLengthOfAnswer reports whether what was read begins with a length that an answer can have.
func isLengthOfAnswer(b []byte) bool {
	length := binary.BigEndian.Uint32(b)
	return length >= handshake-lengthEnd && length <= longestAnswer
}
