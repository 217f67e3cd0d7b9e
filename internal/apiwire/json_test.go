package apiwire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// TestJSONIsNotWhatProtobufWrites, of a message of any type with something in every field.
func TestJSONIsNotWhatProtobufWrites(t *testing.T) {
	messages := 0
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		if kind.Descriptor().ParentFile().Package() != "bedrock.v1" || kind.Descriptor().IsMapEntry() {
			return true
		}
		messages++
		for _, m := range []protoreflect.Message{kind.New(), everyField(kind, []byte{0, 255})} {
			want, got := asProtobuf(t, m.Interface()), apiwire.AppendJSON(nil, m.Interface())
			if !bytes.Equal(want, got) {
				t.Errorf("%s:\nwant %s\ngot  %s", kind.Descriptor().Name(), want, got)
			}
		}
		return true
	})
	if messages < 40 {
		t.Errorf("there are %d messages", messages)
	}
}

// asProtobuf is what protobuf writes, without spaces.
func asProtobuf(t *testing.T, m proto.Message) []byte {
	t.Helper()
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everyField makes a message with something in every field, and these bytes in those of bytes.
func everyField(kind protoreflect.MessageType, content []byte) protoreflect.Message {
	m := kind.New()
	switch known := m.Interface().(type) {
	case *timestamppb.Timestamp:
		known.Seconds, known.Nanos = 1e9, 120_000
		return m
	case *durationpb.Duration:
		known.Seconds, known.Nanos = -61, -500_000_000
		return m
	case *structpb.ListValue:
		known.Values = []*structpb.Value{structpb.NewStringValue("a"), structpb.NewNumberValue(1.5)}
		return m
	case *structpb.Value:
		return structpb.NewListValue(&structpb.ListValue{}).ProtoReflect()
	}
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		switch {
		case field.IsMap():
			value := valueFor(field.MapValue(), m.NewField(field).Map().NewValue(), content)
			for _, name := range []string{"b", "a"} {
				m.Mutable(field).Map().Set(protoreflect.ValueOfString(name).MapKey(), value)
			}
		case field.IsList():
			list := m.Mutable(field).List()
			list.Append(valueFor(field, list.NewElement(), content))
			list.Append(valueFor(field, list.NewElement(), content))
		default:
			m.Set(field, valueFor(field, m.NewField(field), content)) // of several in a oneof the last: bytes
		}
	}
	return m
}

func valueFor(field protoreflect.FieldDescriptor, empty protoreflect.Value, content []byte) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(everyField(empty.Message().Type(), content))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("\"\\\n\r\t\x01\x7f</é\u2028𝄞 " + string(field.Name()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(content)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(-math.MaxInt32)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(math.MaxUint32)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(math.MinInt64)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(math.MaxUint64)
	default:
		panic("nobody writes a " + field.Kind().String() + " as JSON")
	}
}

// TestJSONOfBytesIsNotReadByProtobuf: clients that it generates read an answer although its
// payloads are there as they were given.
func TestJSONOfBytesIsNotReadByProtobuf(t *testing.T) {
	content := []byte("{\n \"n\": [1, true],\t\"s\": \"a b\" }\n")
	for _, m := range []proto.Message{
		&bedrockv1.Definition{}, &bedrockv1.Step{}, &bedrockv1.Branch{}, &bedrockv1.Receiver{}, &bedrockv1.Operation{},
		&bedrockv1.Result{}, &bedrockv1.Transaction{},
	} {
		full := everyField(m.ProtoReflect().Type(), content)
		full.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			if field.Name() == "returned" {
				full.Clear(field) // it is returned_bytes that is filled in
			}
			return true
		})
		text := apiwire.AppendJSON(nil, full.Interface())
		if !bytes.Contains(text, []byte(`:{"n":[1,true],"s":"a b"}`)) || bytes.Contains(text, []byte("Bytes")) {
			t.Errorf("%T: %s", m, text)
		}
		if err := protojson.Unmarshal(text, m); err != nil {
			t.Errorf("%T: %v\n%s", m, err, text)
		}
	}
}

// TestWhatNeverEndsHasTimeLeft, and what ends at this moment has none.
func TestWhatNeverEndsHasTimeLeft(t *testing.T) {
	m := apiwire.Lock(driver.Info{
		Name: "a", Holders: []driver.Holder{{TTL: -1}, {TTL: 0}, {TTL: 1500 * time.Millisecond}},
	})
	want := `{"name":"a","holders":[{"mode":"exclusive"},{"mode":"exclusive","ttl":"0s"},` +
		`{"mode":"exclusive","ttl":"1.500s"}],"kind":"mutex"}`
	if got := string(apiwire.AppendJSON(nil, m)); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

// TestReturnedIsEitherJSONOrBytes: branch by branch.
func TestReturnedIsEitherJSONOrBytes(t *testing.T) {
	m := &bedrockv1.Result{ReturnedBytes: map[string][]byte{
		"b": []byte(`{"id": 9007199254740993}`), "a": []byte(`"x"`), "d": {0}, "c": nil,
	}}
	want := `{"returned":{"a":"x","b":{"id":9007199254740993}},"returnedBytes":{"c":"","d":"AA=="}}`
	if got := string(apiwire.AppendJSON(nil, m)); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

// TestPayloadsThatSomeReadersRefuse are shown as bytes, and all others as they are, but for
// their spaces.
func TestPayloadsThatSomeReadersRefuse(t *testing.T) {
	for payload, want := range map[string]string{
		`1`: ``, `-0.5`: ``, `1e3`: ``, `9007199254740993`: ``, `0.12345678901234567`: ``, `1e-400`: ``, `-0.0`: ``,
		`"x"`: ``, `null`: ``, `true`: ``, `[]`: ``, `{}`: ``, `[{},[[]]]`: ``, `"\ud834\udd1e \u0041"`: ``,
		`{"a":1,"b":{"a":1}}`: ``, `[{"a":1},{"a":1}]`: ``, `{"a":["a","a"],"b":"a"}`: ``, `"\\ud800"`: ``,
		" [ 1 ,\n\t2 ] ": `[1,2]`, `{"a b" : " { "}`: `{"a b":" { "}`,
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): ``,
		strings.Repeat("1", 400):                              `bytes`,
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001): `bytes`,
		`1e400`: `bytes`, `[-1E400]`: `bytes`, ``: `bytes`, `{`: `bytes`, `1 2`: `bytes`, "\x00": `bytes`,
		"\"\xff\"": `bytes`, `"\ud800"`: `bytes`, `"\ud800\u0041"`: `bytes`, `"\udc00\ud800"`: `bytes`,
		`{"\ud800":1}`: `bytes`, `{"a":1,"b":2,"a":3}`: `bytes`, `[{"x":{"a":1,"\u0061":2}}]`: `bytes`,
		"{\"\u00ad\":1,\"\\u00ad\":1}": `bytes`, `"\ud834\ud834\udd1e"`: `bytes`,
	} {
		if want == "" {
			want = payload
		}
		m := &bedrockv1.Operation{Body: &bedrockv1.Operation_ResultBytes{ResultBytes: []byte(payload)}}
		text := apiwire.AppendJSON(nil, m)
		var got struct {
			Result      json.RawMessage
			ResultBytes []byte
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%.60s: %v in %.100s", payload, err, text)
		}
		if want == "bytes" && (string(got.ResultBytes) != payload || got.Result != nil) ||
			want != "bytes" && string(got.Result) != want {
			t.Errorf("%.60s: %.100s", payload, text)
		}
		if err := protojson.Unmarshal(text, m); err != nil {
			t.Errorf("%.60s: protobuf: %v", payload, err)
		}
	}
}

// TestManyNamesTakeLong to compare, if each is with every other one.
func TestManyNamesTakeLong(t *testing.T) {
	names := make(map[string]int)
	for i := range 200_000 {
		names[strings.Repeat("x", i%7)+time.Duration(i).String()] = i
	}
	payload, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	m := &bedrockv1.Operation{Body: &bedrockv1.Operation_ResultBytes{ResultBytes: payload}}
	if text := apiwire.AppendJSON(nil, m); len(text) != len(payload)+len(`{"result":}`) {
		t.Errorf("%d bytes of %d", len(text), len(payload))
	}
}

// FuzzBodies: whatever bytes a participant returns, the answer that shows them is JSON, and
// protobuf's reader takes it.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, "\ud834\udd1e"]}`, `{"a":1,"a":2}`, `1e400`, `"\ud800"`, "\xff", ``, ` [ ] `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		m := &bedrockv1.Operation{Body: &bedrockv1.Operation_ResultBytes{ResultBytes: content}}
		text := apiwire.AppendJSON(nil, m)
		if !json.Valid(text) {
			t.Fatalf("%q: %s", content, text)
		}
		var read bedrockv1.Operation
		if err := protojson.Unmarshal(text, &read); err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		if b, ok := read.GetBody().(*bedrockv1.Operation_ResultBytes); ok && !bytes.Equal(b.ResultBytes, content) {
			t.Errorf("%q became %q", content, b.ResultBytes)
		}
	})
}
