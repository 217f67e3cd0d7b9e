// Package client reaches a Bedrock server. A [Client] is a coordinator of
// transactions like the embedded one, and gives out locks like any other backend:
//
//	c, err := client.Dial("http://127.0.0.1:7700", nil)
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	result, err := saga.New("order").Step("pay", "https://pay/charge", "https://pay/refund").Run(ctx, c, order)
//
//	locks, err := lock.New(c.Backend(), nil)
//
// Every call ends with its context. While the server does not answer, calls are
// repeated for [Options.Patience], and no longer than that; that is safe, because the ID of a
// transaction is made up here, before it is first sent. Run and Wait go on while a server can
// be reached that owes them an outcome. What may or may not have happened then is
// a *txn.InDoubtError, never a guess. A connection that has died silently is left, and the
// call made again over a new one, before patience is over.
package client
