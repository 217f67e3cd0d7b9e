// Package samples holds the tests of what the documentation shows: every Go block of
// README, guide and designs is compiled, and so is the Go that is indented in comments,
// and every call within a sentence of the guide; README's programs are compiled in an
// empty module, and its first command line is run beside a server.
//
// A sample is a program, declarations, or statements. What statements do not say, as which
// context they have, stands in testdata/scene.go; packages are found by their names.
package samples
