// Package stores runs the servers whose locks are measured: alone, on free loopback ports, with data in a folder that
// is removed with them. All but Redis write to the disk before they answer, as they do by default.
package stores
