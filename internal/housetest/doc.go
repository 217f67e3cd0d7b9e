// Package housetest holds the rules of the house as tests: who may import whom,
// what a package must and must not contain, how long things may be.
//
// The rules read source files only, so they are quick and see every platform.
// Each is a function from the tree to complaints; testdata holds for each a
// tree that breaks it, so that no rule is green because it is blind.
package housetest
