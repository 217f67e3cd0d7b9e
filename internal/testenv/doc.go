// Package testenv starts real servers for tests, and for bedrock torture, from the
// binaries found on the machine: on free loopback ports, with data in temporary folders, safe to use
// from parallel tests and parallel test binaries.
//
// Every server is stopped when its [Owner] ends. On Linux it is also killed by the
// kernel when the test binary dies, whatever kills it.
//
// A missing binary fails the test where the environment variable CI is set, and
// skips it elsewhere; there is never a fake instead. The variable
// BEDROCK_SKIPPED may name a file, which then gets one line per skipped test.
package testenv
