// Package shedlock has no code but tests: they drive the real ShedLock beside Bedrock on one table.
package shedlock
