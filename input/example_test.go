package input_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Whatever is refused is refused with the same error, which names the field.
func ExampleError() {
	_, err := memlock.New(nil, &lock.Options{TTL: time.Millisecond})
	fmt.Println(errors.Is(err, input.ErrInvalid))
	if wrong, ok := errors.AsType[*input.Error](err); ok {
		fmt.Println(wrong.Field)
	}
	fmt.Println(err)
	// Output:
	// true
	// ttl
	// ttl: is 1ms, allowed are 10ms to 24h0m0s
}
