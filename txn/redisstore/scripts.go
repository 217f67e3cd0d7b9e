package redisstore

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts, nobody relies on it for security
	_ "embed"
	"encoding/hex"
)

// script is run by its digest, and sent in full only to a server that does not
// know it yet.
type script struct{ text, sha string }

func newScript(text string) *script {
	text = placesText + text
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

//go:embed scripts/places.lua
var placesText string

//go:embed scripts/create.lua
var createText string

//go:embed scripts/update.lua
var updateText string

//go:embed scripts/peek.lua
var peekText string

//go:embed scripts/take.lua
var takeText string

//go:embed scripts/list.lua
var listText string

//go:embed scripts/delete.lua
var deleteText string

//go:embed scripts/count.lua
var countText string

type scripts struct {
	create, update, peek, take, list, remove, count *script
}

func newScripts() scripts {
	return scripts{
		create: newScript(createText), update: newScript(updateText), peek: newScript(peekText),
		take: newScript(takeText), list: newScript(listText), remove: newScript(deleteText), count: newScript(countText),
	}
}
