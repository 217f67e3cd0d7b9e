package auth_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/server/auth"
)

// A listener of its own protocol has been shown a token by a connection.
func ExampleTokens_Identify() {
	file := "client shop " + auth.HashToken("bedrock-secret") // as a token file has it
	tokens, err := auth.ParseTokens(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	pass := tokens.Identify("bedrock-secret", "10.0.0.7:41234")
	ctx, err := pass.Admit(context.Background(), auth.Client)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := auth.UntilRevoked(ctx) // what the connection does ends with its token
	defer cancel()
	fmt.Println(auth.CredentialFrom(ctx).Name, "may submit")

	_, err = pass.Admit(context.Background(), auth.Operator)
	fmt.Println(err)

	// Output:
	// shop may submit
	// shop is client; this needs operator
}
