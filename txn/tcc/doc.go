// Package tcc builds TCC transactions: every participant first reserves (try), and
// is then told to keep it (confirm) or to let go (cancel).
//
// The coordinator can make the tries:
//
//	trip := tcc.New("trip").
//		Branch("flight", "flight.try", "flight.confirm", "flight.cancel").
//		Compensating("points", "points.add", "points.remove").
//		Assured("mail", "mail.send")
//	res, err := trip.Run(ctx, co, payload)
//
// or the caller makes them, in its own code:
//
//	res, err := tcc.Do(ctx, co, "trip", func(ctx context.Context, t *tcc.Transaction) error {
//		return t.Try(ctx, tcc.Branch{ID: "flight", Confirm: "flight.confirm", Cancel: "flight.cancel"}, reserve)
//	}, nil)
//
// There are three kinds of branches. A general one reserves, so nobody sees its
// effect before the decision. A compensating one does its part at once and undoes it
// afterwards. An assured one has no say: it is reached through a reliable message
// once the transaction is committed.
//
// Tries are held until the transaction's timeout. Then it is rolled back, and a
// commit that comes later is refused with txn.ErrDecided. A cancel is sent to every
// branch whose try may have been made, so participants must bear a cancel without a
// try, and refuse a try after its cancel; package barrier takes care of both.
// Neither confirm nor cancel can be refused: they are called until they are done, or
// until a person has to look.
package tcc
