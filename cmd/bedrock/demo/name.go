package demo

import "crypto/rand"

// lockName returns the lock's name; on a shared server one that no other
// demonstration has.
func lockName(backend string) string {
	if backend == "" {
		return "demo/balance"
	}
	return "bedrock-demo:" + rand.Text()[:8]
}
