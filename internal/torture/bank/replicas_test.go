//go:build unix

package bank_test

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/replicas"
)

func dialReplicas(urls []string) (*replicas.Coordinator, error) {
	return replicas.Dial(urls, replicas.Options{Patience: 500 * time.Millisecond, Each: 3 * lease})
}
