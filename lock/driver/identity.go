package driver

import "strings"

// placeMark separates a store from a place in it. No store calls itself by a name with a line break.
const placeMark = "\n"

// IdentityIn returns the identity of a client whose names are in a place of their own in a store; of one whose names
// are those of the whole store if place is empty.
func IdentityIn(store, place string) string {
	if place == "" {
		return store
	}
	return store + placeMark + place
}

// StoreOf returns what an identity says of the store, wherever in it the names are: the places of one store fail
// together.
func StoreOf(identity string) string {
	store, _, _ := strings.Cut(identity, placeMark)
	return store
}
