// Package chaos puts faults between a client and a server on loopback.
//
// A [Proxy] forwards TCP and can cut, swallow, delay or lose what passes. Every
// fault leaves evidence in [Evidence], so that a test proves that the fault
// happened before it judges how the client took it.
package chaos
