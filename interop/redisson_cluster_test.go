package interop

import (
	"maps"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// clusters are the settings of a cluster in which both sides meet. Redisson 3.24 cannot be told how to publish, and
// chooses SPUBLISH on a server that knows it.
func clusters() map[string]*site {
	const classic, sharded = "cluster, PUBLISH", "cluster, SPUBLISH"
	return map[string]*site{
		"cluster-auto-" + oldest: {
			version: oldest, topology: sharded, javaPublishes: "AUTO", goPublishes: redislock.PubSubAuto,
		},
		"cluster-classic-" + newest: {
			version: newest, topology: classic, javaPublishes: "OFF", goPublishes: redislock.PubSubClassic,
		},
		"cluster-sharded-" + newest: {
			version: newest, topology: sharded, javaPublishes: "ON", goPublishes: redislock.PubSubSharded,
		},
	}
}

// clusterScenes are those that are played in a cluster, too: who waits is woken, and who has died is not waited for.
func clusterScenes() scenes {
	all := ofEveryKind()
	maps.Copy(all, scenes{
		"TokensRise":         tokensRise,
		"FairGoIsWoken":      fairGoIsWoken,
		"FairJavaIsWoken":    fairJavaIsWoken,
		"FairOrderOfArrival": fairOrderOfArrival,
		"LatchIsShared":      latchIsShared,
		"LatchGoIsWoken":     latchGoIsWoken,
		"LatchJavaIsWoken":   latchJavaIsWoken,
	})
	return all
}

// playInCluster plays one scene after the other, on one cluster and with one program: what costs time is to start them.
func playInCluster(t *testing.T, program *peer.Program, at *site, seen *matrix.Matrix) {
	t.Helper()
	at.nodes = testenv.Cluster(t, 3, 0).Nodes
	all := bringTogether(t, program, at, seen)
	for name, play := range clusterScenes() {
		t.Run(name, func(t *testing.T) {
			e := *all
			e.T, e.java = t, all.java.In(t)
			play(&e)
			seen.Played(name, at.place())
		})
	}
}
