package modes_test

import (
	"fmt"

	"github.com/bedrock-go/bedrock/txn/modes"
)

func ExampleAll() {
	for _, m := range modes.All() {
		fmt.Print(m.Name(), ":")
		for _, phase := range m.Phases() {
			fmt.Print(" ", m.Op(phase))
		}
		fmt.Println()
	}
	// Output:
	// saga: action compensate
	// tcc: try confirm cancel
	// msg: deliver check
}
