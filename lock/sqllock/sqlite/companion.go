package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// openCompanion opens a file beside the database, to which flags say what is done. If there is none it makes one.
//
// What is made belongs to whom the database belongs to, and with the same permissions, as SQLite does it with its own:
// a process of root must not shut out the user of the file. Links are not followed: in the folder of a user they may
// lead root anywhere.
func openCompanion(database, path string, flags int) (f *os.File, err error) {
	const tries = 3 // others may make it, and remove it, in between
	for range tries {
		f, err = os.OpenFile(path, flags|noFollow|noWait, 0)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			giveAway(f, database)
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, err
}

// makeCompanionFolder makes a folder beside the database, if there is none.
func makeCompanionFolder(database, path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return checkFolder(path)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err
	}
	giveAway(f, database)
	return f.Close()
}

// checkFolder refuses a link to one: what is behind it is somebody else's, and not to be removed.
func checkFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s, where processes that use the file have their signs, is no folder", path)
	}
	return err
}

// giveAway gives a file that was made just now to whom the database belongs to. Where that is not allowed it is left as
// it is: the file may be of use to its maker all the same.
func giveAway(f *os.File, database string) {
	like, err := os.Stat(database)
	if err != nil {
		return
	}
	made, err := f.Stat()
	if err != nil {
		return
	}
	giveTo(f, made, like)
	if mode := modeBeside(like.Mode().Perm(), made.IsDir()); mode != made.Mode().Perm() {
		_ = f.Chmod(mode)
	}
}

// modeBeside is the mode of what is beside a database: whoever may use the one may use the other.
func modeBeside(database fs.FileMode, folder bool) fs.FileMode {
	const files = 0o666
	mode := database & files
	if folder {
		const mayRead, readToEnter = 0o444, 2
		mode |= mode & mayRead >> readToEnter
	}
	return mode
}
