// Package httpguard carries the token of a lock from an HTTP client to a service, which refuses stale ones. See package
// guard for what that means, and package header for the headers.
//
//	client := &http.Client{Transport: httpguard.NewTransport(nil)}
//	request, err := http.NewRequestWithContext(lease.Context(), http.MethodPut, url, nil)
//	response, err := client.Do(request) // with Bedrock-Lock-Name and Bedrock-Lock-Token
//	if err == nil {
//		err = httpguard.Refusal(response) // a *guard.StaleError, if it was refused
//	}
//
// and at the service
//
//	fences, err := sqlguard.New(db, sqlguard.Postgres, nil) // or another guard.Store
//	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//		ticket, _ := guard.TicketFrom(r.Context())
//		err := saveUnder(r.Context(), ticket, r.Body) // with fences.Check in the transaction of the write, see below
//		if stale, ok := errors.AsType[*guard.StaleError](err); ok {
//			httpguard.WriteRefusal(w, stale)
//		} else if err != nil {
//			http.Error(w, "not saved", http.StatusInternalServerError)
//		}
//	})
//	http.Handle("/orders/", httpguard.Handler(orders, fences, nil))
//
// # What the service answers
//
//   - 412 (Precondition Failed) to a stale token, with the ticket and the newest token as headers, and a line of text
//   - 400 to a ticket that cannot be one
//   - 428 (Precondition Required) to a request without one, unless [Options.Optional] lets it through
//   - 403 to the ticket of another lock than [Options.NameFunc] wants
//   - 503 if the store does not say, not within [Options.Timeout] either, and so nothing was done
//
// # Between the check and the write
//
// The handler runs after the check, so a request that is slow at the service may write after a newer one was let
// in. To be sure, a handler checks once more, in the transaction of its write: the ticket is in the request's
// context. [WriteRefusal] answers with what that says.
//
// # Who may send tickets
//
// Whoever can send a request can send a high token, and shut out everybody else. Let only those through who may write
// anyway, and say with [Options.NameFunc] which lock guards what is written to.
package httpguard
