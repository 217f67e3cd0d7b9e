package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
)

// EncodeSpec stores what was asked and says how to recognise it.
func EncodeSpec(d *txn.Definition) (spec []byte, digest string, err error) {
	anonymous := *d
	anonymous.ID = "" // it has a column, and a repeated submit may leave it out
	spec, err = json.Marshal(&anonymous)
	if err != nil {
		return nil, "", fmt.Errorf("encode transaction: %w", err)
	}
	sum := sha256.Sum256(spec)
	return spec, hex.EncodeToString(sum[:16]), nil
}
