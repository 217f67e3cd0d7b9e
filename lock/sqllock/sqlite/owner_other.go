//go:build !linux && !darwin

package sqlite

import (
	"io/fs"
	"os"
)

const noFollow, noWait = 0, 0

// giveTo does nothing: what is made in a folder may be used by whoever may use the folder.
func giveTo(*os.File, fs.FileInfo, fs.FileInfo) {}
