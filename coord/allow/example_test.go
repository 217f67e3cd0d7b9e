package allow_test

import (
	"fmt"

	"github.com/bedrock-go/bedrock/coord/allow"
)

func ExampleParse() {
	rules, err := allow.Parse("https://*.example.com", "http://127.0.0.1:*")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, target := range []string{
		"https://pay.example.com/charge",
		"http://pay.example.com/charge",
		"http://127.0.0.1:8080/charge",
		"http://169.254.169.254/latest/meta-data/",
	} {
		fmt.Println(rules.Check(target))
	}
	// Output:
	// <nil>
	// not allowed: no rule for http://pay.example.com:80
	// <nil>
	// not allowed: 169.254.169.254 is an address of a cloud's metadata; that takes a rule for the very address
}
