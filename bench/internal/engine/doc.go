// Package engine runs Bedrock's coordinator in a process of its own: behind its
// server, as bedrock serve does, or embedded in a program that does nothing but
// run sagas of functions.
package engine
