package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// readAcquire reads a request for a lock. Its metadata may be an object, as it is shown.
func readAcquire(text []byte, m *bedrockv1.AcquireRequest) error {
	if !bytes.Contains(text, []byte(`"meta"`)) {
		return readFields(text, m)
	}
	given, rest, err := cutField(text, "meta")
	if err != nil {
		return err
	}
	if len(given) == 0 || given[0] != '{' {
		return readFields(text, m)
	}
	var shown bedrockv1.Holder // whose metadata are read as strictly as all else
	if protojson.Unmarshal(slices.Concat([]byte(`{"meta":`), given, []byte("}")), &shown) != nil {
		return wrongMeta(given)
	}
	err = readFields(rest, m)
	m.Meta = driver.EncodeMeta(shown.GetMeta())
	return err
}

// wrongMeta says what is wrong with metadata that cannot be read.
func wrongMeta(given []byte) error {
	var texts map[string]*string
	if json.Unmarshal(given, &texts) != nil || slices.Contains(slices.Collect(maps.Values(texts)), nil) {
		return input.Errorf("meta", "want texts in it, such as {\"host\": \"web-7\"}")
	}
	return input.Errorf("meta", "want each name once, and all of it UTF-8")
}
