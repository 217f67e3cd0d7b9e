package bedrocktest_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func TestPaymentIsTriedForAnHour(t *testing.T) {
	clock, parts := bedrocktest.NewClock(), bedrocktest.NewParticipant()
	parts.On("pay action").Fail(40)
	service := httptest.NewServer(parts)
	defer service.Close()

	calls, err := httpcall.New(&httpcall.Options{Allow: allow.Loopback()})
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	co, err := coord.New(clock.TxnStore(), &coord.Options{
		Callers: []txn.Caller{calls}, Poll: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := co.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer co.Stop(context.Background())

	bank := txn.Target(service.URL)
	pay := saga.New("order").Step("pay", bank+"/charge", bank+"/refund")
	id, err := pay.Submit(t.Context(), co, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock.SkipPauses(t, co, id)

	bedrocktest.Committed(t, co, id)
}
