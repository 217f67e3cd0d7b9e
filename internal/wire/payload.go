package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// encoded writes a value as JSON, always the same way: submitting the same content
// again must be recognised.
func encoded(v *structpb.Value) ([]byte, error) {
	text, err := json.Marshal(v.AsInterface())
	if err != nil {
		return nil, fmt.Errorf("not a JSON value: %w", err)
	}
	return text, nil
}

// Value reads JSON, if a protobuf value can hold it without loss: its numbers are
// floating point.
func Value(text []byte) (v *structpb.Value, exact bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	return value(decoded)
}

func value(decoded any) (*structpb.Value, bool) {
	switch d := decoded.(type) {
	case json.Number:
		return number(string(d))
	case []any:
		return list(d)
	case map[string]any:
		return object(d)
	default: // nil, bool, string
		v, err := structpb.NewValue(d)
		return v, err == nil
	}
}

func list(decoded []any) (*structpb.Value, bool) {
	values := make([]*structpb.Value, len(decoded))
	for i := range decoded {
		v, exact := value(decoded[i])
		if !exact {
			return nil, false
		}
		values[i] = v
	}
	return structpb.NewListValue(&structpb.ListValue{Values: values}), true
}

func object(decoded map[string]any) (*structpb.Value, bool) {
	fields := make(map[string]*structpb.Value, len(decoded))
	for name := range decoded {
		v, exact := value(decoded[name])
		if !exact {
			return nil, false
		}
		fields[name] = v
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields}), true
}

// number accepts what a double gives back digit by digit: integers below 2^53, and
// up to 15 digits otherwise.
func number(text string) (*structpb.Value, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	whole := !strings.ContainsAny(text, ".eE") && math.Abs(f) < 1<<53
	short := len(strings.Trim(digits, "-0.")) <= 15 // a point counts; that is on the safe side
	return structpb.NewNumberValue(f), whole || short
}
