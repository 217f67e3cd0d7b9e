// Package server puts a coordinator and a store of locks on the network: gRPC,
// gRPC-Web and JSON for curl on one port, health and metrics beside them, and a
// console under /.
//
//	curl -d '{"definition": {"mode": "saga", "steps": [
//	      {"id": "charge", "action": "https://pay/charge", "compensate": "https://pay/refund"}
//	    ]}, "wait": true}' -H 'Content-Type: application/json' \
//	  http://127.0.0.1:7700/bedrock.v1.TransactionService/Submit
//
// [New] makes the handler; it may be mounted in any server. [Serve] runs it as it
// should be run: with HTTP/2 also without TLS, limits against slow clients, and an
// end that lets calls finish.
//
// Package auth says who may do what, and where it is safe to listen. Nothing is public by
// accident: see auth.Exposure and auth.Files.
package server
