package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// Order is what both services are sent.
type Order struct {
	Item   string
	Count  int
	Amount int
}

// shop is the data of the two services.
type shop struct {
	db      *sql.DB
	barrier *barrier.Barrier
}

func openShop(ctx context.Context, path string) (*shop, error) {
	db, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, `
		CREATE TABLE stock (item TEXT PRIMARY KEY, count INTEGER);
		CREATE TABLE bank (amount INTEGER);
		INSERT INTO stock VALUES ('lamp', 10); INSERT INTO bank VALUES (100)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &shop{db: db, barrier: b}, b.Migrate(ctx)
}

// services are the participants. The barrier makes every call take effect once,
// whatever is repeated or overtaken on the way.
func (s *shop) services() http.Handler {
	mux := http.NewServeMux()
	for path, change := range map[string]func(ctx context.Context, tx *sql.Tx, o Order) error{
		"/stock/deduct": func(ctx context.Context, tx *sql.Tx, o Order) error {
			return deduct(ctx, tx, o.Item, o.Count)
		},
		"/stock/restore": func(ctx context.Context, tx *sql.Tx, o Order) error {
			return deduct(ctx, tx, o.Item, -o.Count)
		},
		"/bank/charge": func(ctx context.Context, tx *sql.Tx, o Order) error { return charge(ctx, tx, o.Amount) },
		"/bank/refund": func(ctx context.Context, tx *sql.Tx, o Order) error { return charge(ctx, tx, -o.Amount) },
	} {
		f := barrier.Handle(s.barrier, func(ctx context.Context, tx *sql.Tx, o Order) (any, error) {
			return nil, change(ctx, tx, o)
		})
		mux.Handle("POST "+path, participant.Handler(f, nil))
	}
	return mux
}

func deduct(ctx context.Context, tx *sql.Tx, item string, n int) error {
	return enough(tx.ExecContext(ctx, "UPDATE stock SET count = count - ?1 WHERE item = ?2 AND count >= ?1", n, item))
}

func charge(ctx context.Context, tx *sql.Tx, amount int) error {
	return enough(tx.ExecContext(ctx, "UPDATE bank SET amount = amount - ?1 WHERE amount >= ?1", amount))
}

// enough refuses if nothing was changed. Any other error is passed on: the
// coordinator calls again.
func enough(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return txn.Abort(errors.New("there is not enough"))
}

func (s *shop) printStock(ctx context.Context, out io.Writer) error {
	var lamps, money int
	row := s.db.QueryRowContext(ctx, "SELECT stock.count, bank.amount FROM stock, bank")
	if err := row.Scan(&lamps, &money); err != nil {
		return err
	}
	fmt.Fprintf(out, "\t%d lamps and %d in the bank\n", lamps, money)
	return nil
}
