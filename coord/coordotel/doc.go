// Package coordotel carries OpenTelemetry's traces through transactions.
//
//	co, err := coord.New(store, &coord.Options{Tracing: coordotel.New(nil)})
//
// Submitting is a span, child of the one in the context, or of the one in the
// definition's headers. Its trace context is stored with the transaction, so every
// call made for it is a child too, whichever coordinator makes it and however much
// later, and so is what a participant does if it reads the header traceparent:
//
//	POST /orders
//	└── saga order                 submitted, and durable
//	    ├── saga action            a call; attempt 1 failed
//	    ├── saga action            attempt 2
//	    │   └── POST /charge       the participant's
//	    └── saga compensate
//
// Spans carry the transaction's ID, branch, operation, attempt, target and the
// answer; payloads and results never.
package coordotel
