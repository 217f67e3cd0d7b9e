package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// otherName says why a file may be known by another name as well; empty if it is not.
func otherName(path string) string {
	var file, folder unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_NLINK|unix.STATX_MNT_ID, &file) != nil {
		return ""
	}
	if file.Mask&unix.STATX_NLINK != 0 && file.Nlink > 1 {
		return "has hard links"
	}
	if unix.Statx(unix.AT_FDCWD, filepath.Dir(path), 0, unix.STATX_MNT_ID, &folder) != nil {
		return ""
	}
	if file.Mask&folder.Mask&unix.STATX_MNT_ID != 0 && file.Mnt_id != folder.Mnt_id {
		return "is mounted by itself (mount its folder)"
	}
	return ""
}
