// Package coord is the engine that drives distributed transactions. It runs inside an
// application, on any store of package txn/driver, and behind package server.
//
// # A first program
//
// A coordinator is given its store, learns its participants, starts, and is handed
// transactions:
//
//	co, err := coord.New(memstore.New(nil), nil)
//	if err != nil {
//		return err
//	}
//	if err := co.Register("stock.deduct", txn.Handle(deduct)); err != nil {
//		return err
//	}
//	if err := co.Start(ctx); err != nil {
//		return err
//	}
//	defer co.Stop(context.Background())
//	res, err := saga.New("order").
//		Step("stock", "stock.deduct", "stock.restore").
//		Step("pay", "https://pay.example.com/charge", "https://pay.example.com/refund").
//		Run(ctx, co, order)
//
// The package's example is the whole of it. Participants are Go functions, which
// [Coordinator.Register] adds by name, or targets of the schemes that [Options.Callers]
// know: package httpcall reaches http and https, package grpccall grpc and grpcs. Stores
// are in txn/memstore (for tests), txn/sqlstore and txn/redisstore; several coordinators
// on one store share its work.
//
// # The life of a transaction
//
// [Coordinator.Submit] checks a definition and writes it down as one record of the store;
// from then on it is carried out, whatever becomes of this process. [Coordinator.Run] waits
// for the outcome as well. A transaction is driven by a run: it asks the mode's plan what
// comes next, calls participants, enters their answers, writes, and plans again. A decision
// (commit or roll back) is written before the first call that follows from it, and nothing
// leaves it. [Coordinator.SubmitTx] creates the record inside the caller's own SQL
// transaction. [Coordinator.Begin] leaves the decision to the caller: [Coordinator.Enlist]
// adds branches, [Coordinator.Commit] and [Coordinator.RollBack] decide.
//
// Participants may be called more than once, so they must be idempotent; package
// txn/barrier makes them so. One that does not answer is called again after a pause, and
// what waits for a target that is down is called as soon as that is back. What cannot go
// on by itself is parked for a person, who resumes, compensates or abandons it with
// [Coordinator.Act].
//
// # Stopping and recovery
//
// [Coordinator.Stop] breaks off the calls under way and writes every record so that other
// coordinators can take it up at once. Of a coordinator that crashes, the leases run out
// ([Options.Lease]), and any other on the store takes over: what the lost one may have
// called counts as unsure, and is undone or called again. A coordinator that was only slow
// is shut out by the next write, which carries the epoch of its owner. Nothing depends on
// the clocks of machines: times are the store's.
//
// # Observing
//
// [Coordinator.Get], [Coordinator.List] and [Coordinator.Watch] show transactions with all
// their attempts, and [Coordinator.Wait] returns when one has ended. [Options.Observer] is
// told what happens, package coordprom makes metrics of it, and [Options.Tracing], of which
// package coordotel is one, carries traces through transactions. [Options.Logger] tells of
// trouble alone.
//
// # The files
//
// The first word of a file says which part it belongs to: submit_ is how a transaction is
// accepted, change_ how one is changed from outside, run_ how one is driven, recover_ how
// one is taken over, watch_ how one is shown. DESIGN.md explains the engine to whoever
// wants to change it.
package coord
