package coordotel_test

import (
	"fmt"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordotel"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// Traces go where the program's other traces go.
func ExampleNew() {
	co, err := coord.New(memstore.New(nil), &coord.Options{Tracing: coordotel.New(nil)})
	fmt.Println(co != nil, err)
	// Output: true <nil>
}
