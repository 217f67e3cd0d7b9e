package testenv

import "os"

// ShortTemp makes a folder for the temporary files of a program that the test starts, and
// will perhaps kill: what is left in it goes with the test. Its path is short, because
// programs put sockets there, whose paths may not be long.
func ShortTemp(t Owner) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "bedrock-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove temporary files: %v", err)
		}
	})
	return dir
}
