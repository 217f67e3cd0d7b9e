package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// hasMeta is a request with metadata, which may be an object, as they are shown.
type hasMeta interface {
	*bedrockv1.AcquireRequest | *bedrockv1.AnnotateRequest
	proto.Message
}

// readWithMeta reads a request that has metadata; set gives them to it.
func readWithMeta[M hasMeta](text []byte, m M, set func(meta string)) error {
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
	set(driver.EncodeMeta(shown.GetMeta()))
	return err
}

// readAcquire reads a request for a lock.
func readAcquire(text []byte, m *bedrockv1.AcquireRequest) error {
	return readWithMeta(text, m, func(meta string) { m.Meta = meta })
}

// readAnnotate reads a request to annotate a grant.
func readAnnotate(text []byte, m *bedrockv1.AnnotateRequest) error {
	return readWithMeta(text, m, func(meta string) { m.Meta = meta })
}

// readAcquireAll reads a request for several locks, each as one of them is read.
func readAcquireAll(text []byte, m *bedrockv1.AcquireAllRequest) error {
	given, rest, err := cutField(text, bundleField)
	if err != nil {
		return err
	}
	if len(given) == 0 || given[0] != '[' {
		return readFields(text, m)
	}
	wrong := input.All(readFields(rest, m))
	for i, one := range entries(given) {
		var req bedrockv1.AcquireRequest
		for _, mistake := range input.All(readAcquire(one, &req)) {
			at := fieldpath.Item(bundleField, i)
			if mistake.Field != bodyField {
				at += "." + mistake.Field
			}
			wrong = append(wrong, &input.Error{Field: at, Problem: mistake.Problem})
		}
		m.Requests = append(m.Requests, &req)
	}
	return input.Join(wrong)
}

// bundleField is where the requests for several locks are.
const bundleField = "requests"

// wrongMeta says what is wrong with metadata that cannot be read.
func wrongMeta(given []byte) error {
	var texts map[string]*string
	if json.Unmarshal(given, &texts) != nil || slices.Contains(slices.Collect(maps.Values(texts)), nil) {
		return input.Errorf("meta", "want texts in it, such as {\"host\": \"web-7\"}")
	}
	return input.Errorf("meta", "want each name once, and all of it UTF-8")
}
