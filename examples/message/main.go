// Command message sends a transactional message for every order that is paid: the
// order and the mark that its message is due are committed in one local transaction.
// For the third order the producer loses its coordinator right after the commit, and
// the message is delivered all the same, because the coordinator asks back.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

func main() {
	dir, err := os.MkdirTemp("", "message")
	if err == nil {
		err = errors.Join(run(context.Background(), dir, os.Stdout), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run keeps its files in dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	db, b, err := openOrders(ctx, filepath.Join(dir, "orders.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "bedrock.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	co, err := coord.New(store, nil)
	if err != nil {
		return err
	}
	mail := txn.Handle(func(_ context.Context, order int) (string, error) {
		fmt.Fprintf(out, "\tmail: order %d is paid\n", order)
		return "sent", nil
	})
	if err := errors.Join(co.Register("mail", mail), co.Register("orders.check", b.Check), co.Start(ctx)); err != nil {
		return err
	}
	payOrders(ctx, co, b, out)
	return co.Stop(ctx)
}

func openOrders(ctx context.Context, path string) (*sql.DB, *barrier.Barrier, error) {
	db, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE paid (id INTEGER PRIMARY KEY CHECK (id <> 2))")
	if err = errors.Join(err, b.Migrate(ctx)); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, b, nil
}

func payOrders(ctx context.Context, co txn.Coordinator, b *barrier.Barrier, out io.Writer) {
	message := msg.New("order-paid").To("mail", "mail").Check("orders.check", 200*time.Millisecond, nil)
	for _, o := range []struct {
		order int
		co    txn.Coordinator
		what  string
	}{
		{1, co, "is paid"},
		{2, co, "cannot be paid"},
		{3, lostAfterCommit{co}, "is paid, and then the coordinator is out of reach"},
	} {
		fmt.Fprintf(out, "order %d %s\n", o.order, o.what)
		id, err := message.Do(ctx, o.co, o.order, b.Local(func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO paid VALUES (?)", o.order)
			if err != nil {
				return txn.Abort(errors.New("not accepted")) // certainly not committed
			}
			return nil
		}))
		if err != nil {
			fmt.Fprintf(out, "\tproducer: %s\n", explain(err))
		}
		if _, err := co.Wait(ctx, id); err != nil { // only to end when everything has been said
			fmt.Fprintln(out, "\tno mail")
		}
	}
}

// explain is what a producer makes of an error.
func explain(err error) string {
	if _, ok := errors.AsType[*txn.InDoubtError](err); ok {
		return "not known whether the message will be sent; the check decides"
	}
	return err.Error()
}

// lostAfterCommit is a coordinator that cannot be reached when the local transaction
// has been committed.
type lostAfterCommit struct{ txn.Coordinator }

// Commit does not arrive.
func (lostAfterCommit) Commit(context.Context, string) error { return txn.ErrUnavailable }
