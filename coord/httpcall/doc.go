// Package httpcall reaches participants behind http and https targets.
//
//	rules, err := allow.Parse("https://*.example.com")
//	if err != nil {
//		return err
//	}
//	calls, err := httpcall.New(&httpcall.Options{Allow: rules})
//	if err != nil {
//		return err
//	}
//	defer calls.Close()
//	co, err := coord.New(store, &coord.Options{
//		Callers: []txn.Caller{calls},
//	})
//
// A call is a POST of the payload, application/json if it is JSON, with the headers
// that package header lists. The answer is the status:
//
//	2xx             done; the body is the result
//	409             refused; the body says why
//	425             still working; Retry-After says when to ask again
//	400, 401, 403, 404, 405, 410, 413, 415, 422, 501
//	                the call will not be taken: asked a few times, then left to a person
//	everything else nobody knows whether it was done: asked again
//
// Redirects are not followed, proxies of the environment not used, cookies not kept,
// compressed answers not asked for. One call is one request at most: nothing is sent
// again except by the coordinator, with another attempt's number.
package httpcall
