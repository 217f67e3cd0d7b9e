package zklock

// PrefixOf is how the name of an owner's node begins.
func PrefixOf(owner string) string { return prefixOf(owner) }
