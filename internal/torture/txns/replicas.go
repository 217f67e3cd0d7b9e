package txns

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/replicas"
)

// perReplica bounds an answer of one replica.
const perReplica = 3 * lease

// dialReplicas reaches replicas by clients that soon go on to another one.
func dialReplicas(urls []string) (*replicas.Coordinator, error) {
	return replicas.Dial(urls, replicas.Options{Patience: 500 * time.Millisecond, Each: perReplica})
}
