package testenv

import "os"

// Windows has none of these signals, and no Redis server either: the package
// compiles there, and its tests are skipped.
func terminateSignal() os.Signal { return os.Kill }
func freezeSignal() os.Signal    { return os.Kill }
func thawSignal() os.Signal      { return os.Kill }
