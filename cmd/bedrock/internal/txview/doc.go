// Package txview is how transactions look in JSON when the program prints or
// archives them.
package txview
