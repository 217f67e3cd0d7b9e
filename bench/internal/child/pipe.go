package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Pipe is a child's connection to the process that started it.
type Pipe struct {
	enc *json.Encoder
	dec *json.Decoder
}

// NewPipe reads from in and writes to out.
func NewPipe(in io.Reader, out io.Writer) *Pipe {
	return &Pipe{enc: json.NewEncoder(out), dec: json.NewDecoder(in)}
}

// Job reads what the child is to do.
func (p *Pipe) Job(job any) error { return p.readMessage(job) }

// order is a request to a child.
type order struct {
	Name string
	Args json.RawMessage
}

// reply is a child's answer.
type reply struct {
	Value json.RawMessage `json:",omitempty"`
	Error string          `json:",omitempty"`
}

// Answer carries out one order; args is the JSON that came with it.
type Answer func(name string, args json.RawMessage) (any, error)

// Serve says that the child is ready and answers orders until there are no more.
func (p *Pipe) Serve(ready any, answer Answer) error {
	if err := p.writeReply(ready, nil); err != nil {
		return err
	}
	for {
		var o order
		if err := p.readMessage(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		value, err := answer(o.Name, o.Args)
		if err := p.writeReply(value, err); err != nil {
			return err
		}
	}
}

// writeReply sends a value or an error.
func (p *Pipe) writeReply(value any, failed error) error {
	if failed != nil {
		return p.writeMessage(reply{Error: failed.Error()})
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}
	return p.writeMessage(reply{Value: text})
}

// readReply reads a reply into target, which may be nil.
func (p *Pipe) readReply(target any) error {
	var r reply
	if err := p.readMessage(&r); err != nil {
		return err
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	if target == nil {
		return nil
	}
	return json.Unmarshal(r.Value, target)
}

// writeMessage writes message.
func (p *Pipe) writeMessage(message any) error {
	if err := p.enc.Encode(message); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// readMessage reads the next message into target.
func (p *Pipe) readMessage(target any) error {
	if err := p.dec.Decode(target); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	return nil
}
