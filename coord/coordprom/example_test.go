package coordprom_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordprom"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// The store is asked how many transactions there are whenever metrics are collected.
func ExampleNew() {
	store := memstore.New(nil)
	observer, err := coordprom.New(prometheus.DefaultRegisterer, &coordprom.Options{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	co, err := coord.New(store, &coord.Options{Observer: observer})
	fmt.Println(co != nil, err)
	// Output: true <nil>
}
