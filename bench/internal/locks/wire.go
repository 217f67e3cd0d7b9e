package locks

import (
	"encoding/json"
	"fmt"
	"io"
)

// wire carries JSON lines between this program and a worker.
type wire struct {
	enc *json.Encoder
	dec *json.Decoder
}

func newWire(r io.Reader, w io.Writer) *wire {
	return &wire{enc: json.NewEncoder(w), dec: json.NewDecoder(r)}
}

// writeMessage writes message.
func (w *wire) writeMessage(message any) error {
	if err := w.enc.Encode(message); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// readMessage reads the next message into target, or skips it when target is nil.
func (w *wire) readMessage(target any) error {
	if target == nil {
		target = new(json.RawMessage)
	}
	if err := w.dec.Decode(target); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	return nil
}

// Signals without content.
const (
	ready = "ready"
	start = "go"
)
