package redisstore

import (
	_ "embed"

	"github.com/bedrock-go/bedrock/redisconn"
)

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
	create, update, peek, take, list, remove, count *redisconn.Script
}

func newScripts() scripts {
	return scripts{
		create: withPlaces(createText), update: withPlaces(updateText), peek: withPlaces(peekText),
		take: withPlaces(takeText), list: withPlaces(listText), remove: withPlaces(deleteText),
		count: withPlaces(countText),
	}
}

// withPlaces puts before a script what every script knows of the layout.
func withPlaces(text string) *redisconn.Script { return redisconn.NewScript(placesText + text) }
