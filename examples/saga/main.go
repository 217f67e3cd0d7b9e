// Command saga takes orders with a saga over two HTTP services. The first order goes
// through; for the second, stock is deducted, the bank refuses, and the stock is
// restored. Everything runs in this process, on SQLite files in a folder of its own,
// but the services know nothing of one another and could be anywhere.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

func main() {
	dir, err := os.MkdirTemp("", "saga")
	if err == nil {
		err = errors.Join(run(context.Background(), dir, os.Stdout), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run keeps its files in dir.
func run(ctx context.Context, dir string, out io.Writer) error {
	shop, err := openShop(ctx, filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	defer shop.db.Close()
	services := httptest.NewServer(shop.services())
	defer services.Close()

	store, err := sqlite.Open(ctx, filepath.Join(dir, "bedrock.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	calls, err := httpcall.New(nil)
	if err != nil {
		return err
	}
	defer calls.Close()
	co, err := coord.New(store, &coord.Options{Callers: []txn.Caller{calls}})
	if err != nil {
		return err
	}
	if err := co.Start(ctx); err != nil {
		return err
	}
	return errors.Join(takeOrders(ctx, co, shop, services.URL, out), co.Stop(ctx))
}

func takeOrders(ctx context.Context, co *coord.Coordinator, s *shop, url string, out io.Writer) error {
	at := func(path string) txn.Target { return txn.Target(url + path) }
	order := saga.New("order").
		Step("stock", at("/stock/deduct"), at("/stock/restore")).
		Step("pay", at("/bank/charge"), at("/bank/refund")).
		Timeout(time.Minute)
	for _, o := range []Order{{"lamp", 2, 60}, {"lamp", 3, 9000}} {
		res, err := order.Run(ctx, co, o)
		if _, ok := errors.AsType[*txn.RolledBackError](err); err != nil && !ok {
			return err // not known, or waiting for a person
		}
		fmt.Fprintf(out, "%d %ss for %d: %s\n", o.Count, o.Item, o.Amount, res.Outcome)
		if res.Reason != "" {
			fmt.Fprintf(out, "\tbecause %s\n", res.Reason)
		}
		if err := s.printStock(ctx, out); err != nil {
			return err
		}
	}
	return nil
}
