package deffile_test

import (
	"fmt"
	"log"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

func Example() {
	d, err := deffile.Parse("order.yaml", []byte(`
mode: saga
name: order
timeout: 1m
steps:
  - id: stock
    action: stock.deduct
    compensate: stock.restore
  - id: pay
    action: https://pay.example/charge
    compensate: https://pay.example/refund
    policy: {timeout: 5s, attempts: 3}
payload: {order: 42, amount: 10.50}
`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Mode, d.Name, d.Timeout, string(d.Payload))
	fmt.Println(d.Branches[1].ID, "after", d.Branches[1].After)
	// Output:
	// saga order 1m0s {"order":42,"amount":10.50}
	// pay after [stock]
}

// Mistakes are told with their lines, several at once.
func ExampleParse_mistakes() {
	_, err := deffile.Parse("order.yaml", []byte(`mode: msg
delay: 30
deliver:
  - id: mail
    too: mail.send
`))
	fmt.Println(err)
	// Output:
	// order.yaml:2: delay: "30": want a duration such as 30s or 1m30s
	// order.yaml:4: deliver[0]: want to, or topic
	// order.yaml:5: deliver[0].too: unknown field (did you mean to?); want id, to, topic, payload, payloadBytes, policy
}
