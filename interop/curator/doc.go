// Package curator has no code but tests: they drive the real Curator beside Bedrock on one ensemble of ZooKeeper.
package curator
