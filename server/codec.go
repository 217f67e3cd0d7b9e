package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// strictJSON reads and writes JSON. A field it does not know is a mistake of the
// caller, who expects something of it, and is refused. Payloads are taken and given
// as they are: a protobuf value would round large numbers.
type strictJSON struct {
	name string
	turn chan struct{} // held while a large message is read
}

// largeText is where a message is large. While it is read it may take a hundred
// times its size, if it is made for that.
const largeText = 64 << 10

// newJSON makes the codec of a content type. Large messages are read by as many at
// once as there are processors; more would not be faster.
func newJSON(name string) strictJSON {
	return strictJSON{name: name, turn: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Name is the part of the content type that selects the codec.
func (c strictJSON) Name() string { return c.name }

// IsBinary tells that JSON is text.
func (strictJSON) IsBinary() bool { return false }

// Marshal writes a message.
func (strictJSON) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", message)
	}
	readable(m)
	return protojson.Marshal(m)
}

// MarshalStable writes a message so that equal ones look equal.
func (c strictJSON) MarshalStable(message any) ([]byte, error) {
	text, err := c.Marshal(message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, text)
	return compact.Bytes(), err
}

// Unmarshal reads a message.
func (c strictJSON) Unmarshal(text []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", message)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("the body is empty; want a JSON object, {} at least")
	}
	if len(text) > largeText {
		c.turn <- struct{}{}
		defer func() { <-c.turn }()
	}
	if err := protojson.Unmarshal(text, m); err != nil {
		return plain(err)
	}
	return keepPayloads(text, m)
}

// longestProblem is how much is said about a request that cannot be read, in bytes:
// a name in it may be as long as the request.
const longestProblem = 300

// plain takes the library's name and its unusual spaces out of an error.
func plain(err error) error {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	text = strings.TrimPrefix(text, "proto: ")
	if len(text) > longestProblem {
		text = strings.ToValidUTF8(text[:longestProblem], "") + "…"
	}
	return errors.New(text)
}

// payloads are the places of a request where the payload's own text counts.
type payloads struct {
	Definition struct {
		Payload  json.RawMessage
		Branches []branchPayload
	}
	Branches []branchPayload
}

type branchPayload struct{ Payload json.RawMessage }

// keepPayloads puts the text of payloads into the place of values that were read
// from it.
func keepPayloads(text []byte, m proto.Message) error {
	var definition *bedrockv1.Definition
	var branches []*bedrockv1.Branch
	switch m := m.(type) {
	case *bedrockv1.SubmitRequest:
		definition = m.GetDefinition()
	case *bedrockv1.BeginRequest:
		definition = m.GetDefinition()
	case *bedrockv1.EnlistRequest:
		branches = m.GetBranches()
	default:
		return nil
	}
	var p payloads
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if err := keepBranches(branches, p.Branches); err != nil || definition == nil {
		return err
	}
	if p.Definition.Payload != nil {
		payload, err := compact(p.Definition.Payload)
		if err != nil {
			return err
		}
		definition.Body = &bedrockv1.Definition_PayloadBytes{PayloadBytes: payload}
	}
	return keepBranches(definition.GetBranches(), p.Definition.Branches)
}

func keepBranches(branches []*bedrockv1.Branch, texts []branchPayload) error {
	for i := range min(len(branches), len(texts)) {
		if texts[i].Payload == nil {
			continue
		}
		payload, err := compact(texts[i].Payload)
		if err != nil {
			return err
		}
		branches[i].Body = &bedrockv1.Branch_PayloadBytes{PayloadBytes: payload}
	}
	return nil
}

// compact takes out spaces between values: the same content with other spaces must
// be recognised when it is submitted again.
func compact(text []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Compact(&b, text)
	return b.Bytes(), err
}
