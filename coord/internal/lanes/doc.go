// Package lanes is the way to targets: a bounded number of calls at once to each target and
// host, a breaker that keeps calls from a target that does not answer, and the list of
// those that have recovered. It knows no transaction and no coordinator. coord/DESIGN.md,
// "Back-off", says why it is so.
package lanes
