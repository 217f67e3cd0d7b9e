// Command bedrock runs commands under distributed locks, shows and releases
// locks, checks a backend, measures it, and demonstrates what locks promise.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], &system{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}))
}
