// Package etcdguard guards data in etcd from holders that have lost their lock: the check is a clause of the
// transaction that writes. See package guard for what that means.
//
//	g, err := etcdguard.New(etcd, nil) // of the cluster that has the data
//
//	err = g.Announce(ctx, guard.Of(lease)) // before the first read
//
//	_, err = g.Commit(ctx, guard.Of(lease), etcdguard.Txn{
//		Then: []clientv3.Op{clientv3.OpPut("price/42", "100")},
//	})
//
// # Transactions of your own
//
// Who builds a transaction by himself, or has it committed elsewhere, puts the clause into it. It holds for the ticket
// that was announced last, and no other, so announce it first:
//
//	g, err := etcdguard.New(etcd, nil)
//	resp, err := etcd.Txn(ctx).
//		If(g.Clause(guard.Of(lease)), clientv3.Compare(clientv3.Value("stock/42"), "=", "7")).
//		Then(clientv3.OpPut("stock/42", "6")).
//		Commit()
//	if err == nil && !resp.Succeeded {
//		err = g.Announce(ctx, guard.Of(lease)) // a *guard.StaleError if it was the clause
//	}
//
// # Where tokens are kept
//
// The newest token of orders/42 is at the key bedrock/guard/orders/42, as a decimal number of 19 digits, so that etcd
// compares it by itself. It is as durable as the data beside it, and is kept for ever. The locks may be anywhere; if
// they are in the same cluster, all that is restored from a copy goes back together: locks, tokens, and data.
//
// # Permissions
//
// A user needs to read and write the keys that begin with [DefaultPrefix], or [Options.Prefix], besides the own.
package etcdguard
