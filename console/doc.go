// Package console is a web console for transactions and locks: what there is, what
// became of one transaction and when, who has a lock and who waits for it, and the
// interventions an operator may need.
//
// The pages are made on the server and can be read without JavaScript; a small
// script keeps them up to date. Nothing is loaded from anywhere else, and nothing a
// user of Bedrock can name, write or return is ever more than text.
//
//	handler, err := console.New(co, &console.Options{Operator: co})
//
// Mount it at the root of an origin. It does not ask who is there: that is for
// whoever mounts it, as package server does.
package console
