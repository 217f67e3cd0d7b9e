// Command bedrock serves distributed transactions and locks with a console, submits
// and steers transactions, runs commands under locks, shows and releases locks,
// checks backends, measures them, and demonstrates what locks promise.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], &system{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}))
}
