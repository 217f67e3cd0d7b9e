package testenv

// Owner has servers for a while: a test, or a program that needs some of its own.
// Every *testing.T is one.
type Owner interface {
	Helper()
	Name() string
	// TempDir is a folder that is removed at the end.
	TempDir() string
	// Cleanup is called at the end, the last one first.
	Cleanup(f func())
	Errorf(format string, args ...any)
	// Fatal, Fatalf and Skip do not return. Skip says that a program is not installed.
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
}
