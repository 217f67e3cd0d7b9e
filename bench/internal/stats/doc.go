// Package stats turns measurements into the few numbers a reader compares.
package stats
