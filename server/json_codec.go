package server

import (
	"bytes"
	"fmt"
	"runtime"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// strictJSON reads and writes JSON. A field it does not know is a mistake of the
// caller, who expects something of it, and is refused. Payloads are taken and given
// as they are: a protobuf value would round large numbers.
type strictJSON struct {
	name  string
	large chan struct{} // held while a large message is read
}

// largeText is where a message is large. While it is read it may take a hundred
// times its size, if it is made for that.
const largeText = 64 << 10

// newJSON makes the codec of a content type. Large messages are read by as many at
// once as there are processors; more would not be faster.
func newJSON(name string) strictJSON {
	return strictJSON{name: name, large: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Name is the part of the content type that selects the codec.
func (c strictJSON) Name() string { return c.name }

// IsBinary reports whether messages are no text, which JSON is.
func (strictJSON) IsBinary() bool { return false }

// Marshal writes a message.
func (strictJSON) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", message)
	}
	return apiwire.AppendJSON(nil, m), nil
}

// MarshalStable writes a message so that equal ones look equal.
func (c strictJSON) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

// Unmarshal reads a message. What cannot be read is answered by [answersMistakes].
func (c strictJSON) Unmarshal(text []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", message)
	}
	if len(text) > largeText {
		c.large <- struct{}{}
		defer func() { <-c.large }()
	}
	if err := readJSON(text, m); err != nil {
		return leaveMistakes(m, err)
	}
	return nil
}

func readJSON(text []byte, m proto.Message) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return input.Errorf(bodyField, "is empty; want a JSON object, {} at least")
	}
	switch m := m.(type) {
	case *bedrockv1.SubmitRequest, *bedrockv1.BeginRequest:
		return readDefined(text, m)
	case *bedrockv1.AcquireRequest:
		return readAcquire(text, m)
	case *bedrockv1.AcquireAllRequest:
		return readAcquireAll(text, m)
	case *bedrockv1.AnnotateRequest:
		return readAnnotate(text, m)
	case *bedrockv1.EnlistRequest:
		return readParts(text, m)
	default:
		return readFields(text, m)
	}
}
