// Package saga builds sagas: steps that are compensated in reverse order when one
// of them cannot be done.
//
//	order := saga.New("order").
//		Step("stock", "stock.deduct", "stock.restore").
//		Step("pay", "https://pay.example/charge", "https://pay.example/refund").
//		Timeout(time.Minute)
//	res, err := order.Run(ctx, co, payload)
//
// Steps form a sequence unless After says otherwise; steps that do not wait for one
// another are called at once. A step ends in one of four ways:
//
//   - done: whatever waits for it goes on;
//   - refused (txn.Abort, HTTP 409): it has done nothing, and the saga is rolled
//     back;
//   - not known (any other error, or no answer in time): it is called again, after
//     pauses that double, as often as its policy says;
//   - still working (txn.Pending, HTTP 425): it is asked again later.
//
// A roll back compensates every step that may have been done, also one that never
// answered, so a compensation must bear to come alone, and a step to come after its
// compensation; package barrier takes care of both. A compensation cannot be
// refused: it is called until it is done, or until a person has to look.
//
// Others see what steps have done before the saga is decided: a saga is atomic in
// the end, but not isolated. Where that matters, use package tcc.
package saga
