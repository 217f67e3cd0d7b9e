package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bedrock-go/bedrock/input"
)

// prepareFile makes the file if there is none, so that nobody else can read it, and refuses places where locks would
// not hold. A file that is there is not opened: closing it would lose the locks that this process has there.
func prepareFile(path string) (abs string, err error) {
	if path == "" || path == ":memory:" {
		return "", &input.Error{
			Field: "path", Problem: "want the name of a file; package memlock keeps locks in memory",
		}
	}
	if abs, err = filepath.Abs(path); err != nil {
		return "", err
	}
	folder := filepath.Dir(abs)
	if info, err := os.Stat(folder); errors.Is(err, fs.ErrPermission) {
		return "", withCauseAt(abs, err)
	} else if err != nil || !info.IsDir() {
		return "", input.Errorf("path", "there is no folder %s", folder)
	}
	if kind := networkKind(folder); kind != "" {
		return "", input.Errorf("path", "%s is on %s: SQLite's locks do not hold between machines", folder, kind)
	}
	f, err := os.OpenFile(abs, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return followLinks(abs)
	}
	if err != nil {
		return "", withCauseAt(abs, err)
	}
	return abs, f.Close()
}

// followLinks returns the name of the file itself, beside which everything else is: who comes by a link must find it.
func followLinks(path string) (string, error) {
	is, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", input.Errorf("path", "%s is a link to a file that is not there", path)
	}
	if err != nil {
		return "", withCauseAt(path, err)
	}
	if err := refuseFolder(is); err != nil { // which has more than one name by what is in it
		return "", err
	}
	return is, refuseOtherName(is)
}

func refuseFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return input.Errorf("path", "%s is a folder", path)
	}
	return nil
}

// refuseOtherName refuses a file that others may know by another name: what SQLite and this package have beside a file
// goes by its name, so that they would have other locks.
func refuseOtherName(path string) error {
	if why := otherName(path); why != "" {
		return input.Errorf("path", "%s %s: who knows it by another name has other locks", path, why)
	}
	return nil
}

// identity tells one file of a name from the next one of that name.
type identity struct{ info fs.FileInfo }

func identityOf(path string) (identity, error) {
	info, err := os.Stat(path)
	return identity{info}, err
}

// isStill reports whether the file of that name is the same.
func (i identity) isStill(path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(i.info, info)
}

// fileMissing says that somebody has removed the file while it was open.
func fileMissing(path string) error {
	return fmt.Errorf("%s was removed, or is another file now", path)
}
