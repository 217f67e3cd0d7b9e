// Package record writes transactions into the records that stores keep, and reads them
// back: columns that stores compare and search, the definition as it was asked for (the
// spec), and what has happened since (the state). It knows no coordinator and no store.
package record
