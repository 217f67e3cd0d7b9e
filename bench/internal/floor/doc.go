// Package floor writes records to the stores that Bedrock keeps its transactions
// in, durably and as fast as they take them: one writer collects what many callers
// want to write and hands it over in one go. It knows nothing of transactions. What
// it reaches is what a store leaves to any coordinator on this machine.
package floor
