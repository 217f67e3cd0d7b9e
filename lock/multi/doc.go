// Package multi takes several locks at once: all of them, or none.
//
//	both := multi.New([]lock.Lockable{locks.Mutex("stock/7", nil), locks.Mutex("orders/42", nil)}, nil)
//	lease, err := both.Lock(ctx)
//	if err != nil {
//		return err
//	}
//	defer lease.Unlock(ctx)
//	return ship(lease.Context(), lease.Of("orders/42").Token())
//
// The locks may be of any kind, and of clients of different backends. Those that their backend can grant in one step
// are asked for in one step, so that what is free is had with one request. Where one is held, they are waited for one
// after the other in the order of their names, which is the same for everybody: who takes several locks only by this
// package never waits for somebody who waits for it. Others may, who take them in another order: package lock finds
// such a circle, and one of those in it is told, see [lock.ErrDeadlock].
//
// Whatever goes wrong, what was had by then is given back.
package multi
