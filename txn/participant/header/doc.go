// Package header is how a call travels between a coordinator and a participant: the
// names of its headers, the same in HTTP and gRPC, and the form of their values.
// Participants written in other languages need to know nothing else.
//
//	Bedrock-Transaction  the transaction's ID
//	Bedrock-Branch       the branch's ID; absent when a message's producer is asked
//	Bedrock-Operation    action, compensate, try, confirm, cancel, deliver, check
//	Bedrock-Mode         saga, tcc, msg, …
//	Bedrock-Attempt      counts the calls of this operation, from 1; the same once more, under another
//	                     epoch, if the coordinator was lost before it wrote down the call
//	Bedrock-Epoch        rises whenever another coordinator takes over
//	Bedrock-Deadline     when an undecided transaction is rolled back, RFC 3339; absent: never
//	Bedrock-Result       what the branch returned when it went forward, in base64;
//	                     absent when that was nothing, or more than 4 KB
//	Idempotency-Key      TRANSACTION/BRANCH/OPERATION
//
// A participant that is still working may say in milliseconds when to ask again, in
// the header (gRPC: the trailer) Bedrock-Retry-After.
package header
