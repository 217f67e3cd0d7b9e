// Package mincoord is the least a coordinator of sagas over HTTP can do: a request,
// a record in one log that many requests flush together, two calls, another
// record, an answer. It recovers nothing, retries nothing and shows nothing. What
// it reaches is what HTTP and the disk leave to any coordinator on this machine.
package mincoord
