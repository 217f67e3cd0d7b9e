package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// sign is a file of this process that is locked as long as it lives, however it dies: the kernel takes the lock back.
// The rows of its grants name it, so that nobody has to wait for what a dead process has.
type sign struct {
	f    *os.File
	path string
}

// signsFolder is where the signs are. It is beside the file, and so seen by whoever sees that. Other tables have other
// signs: who takes down that of a dead process has freed its locks in one table.
func (f *file) signsFolder() string {
	if f.opts.Table == rows.DefaultTable {
		return f.path + "-clients"
	}
	return f.path + "-clients-" + f.opts.Table // no file of another name has its own there
}

// putUpSign makes the sign of this process. It is locked before anybody can see it. Where grants are had for others
// there is none: that this process has died would say nothing of them.
func (f *file) putUpSign() error {
	if !canLockFiles || f.opts.ForOthers {
		return nil
	}
	if err := makeCompanionFolder(f.path, f.signsFolder()); err != nil {
		return err
	}
	made, err := os.CreateTemp(f.signsFolder(), ".new-")
	if err != nil {
		return err
	}
	giveAway(made, f.path)
	path := filepath.Join(f.signsFolder(), f.client)
	if ok, err := lockFile(made); err != nil || !ok {
		return errors.Join(err, os.Remove(made.Name()), made.Close())
	}
	f.sign = sign{made, path}
	return os.Rename(made.Name(), path)
}

// keepUpSign puts the sign up again if somebody has removed it.
func (f *file) keepUpSign() error {
	if f.sign.f == nil {
		return nil
	}
	mine, err := f.sign.f.Stat()
	if err == nil && (identity{mine}).isStill(f.sign.path) {
		return nil
	}
	_ = f.sign.f.Close() // nobody sees it any more
	f.sign = sign{}
	return f.putUpSign()
}

// takeDown ends the sign of a process that leaves: what it has stays its own until its time is over.
func (s *sign) takeDown() error {
	if s.f == nil {
		return nil
	}
	err := os.Remove(s.path) // before it is closed: nobody must find it unlocked
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.f.Close())
}

// signs are what is in the folder of signs.
func (f *file) signs() ([]os.DirEntry, error) {
	if err := checkFolder(f.signsFolder()); err != nil {
		return nil, err
	}
	return os.ReadDir(f.signsFolder())
}

// freeDead gives back what processes have that have died. It reports whether there was anything.
func (f *file) freeDead(ctx context.Context) (freed bool) {
	now := time.Now().UnixNano()
	last := f.looked.Load()
	if !canLockFiles || now-last < int64(lookEvery/2) && now >= last || !f.looked.CompareAndSwap(last, now) {
		return false
	}
	signs, err := f.signs()
	if err != nil {
		f.enterUnfreed(nil)
		return false
	}
	left := make(unfreed)
	for _, s := range signs {
		sign := s.Type().IsRegular() && !strings.HasPrefix(s.Name(), ".")
		if sign && s.Name() != f.client && f.freeIfDead(ctx, s.Name(), left) {
			freed = true
		}
	}
	if ctx.Err() == nil {
		f.enterUnfreed(left)
	}
	return freed
}

func (f *file) freeIfDead(ctx context.Context, client string, left unfreed) bool {
	path := filepath.Join(f.signsFolder(), client)
	found, err := os.Open(path)
	if err != nil {
		return false
	}
	defer found.Close()
	if locked, err := lockFile(found); err != nil || !locked {
		return false
	}
	mine, err := found.Stat()
	if err != nil || !(identity{mine}).isStill(path) { // it has left in good order
		return false
	}
	if names, err := f.freeAll(ctx, client); err != nil { // another time
		if isFull(err) { // until then nobody has it
			left.enterNames(names, f.unwritten(err))
		}
		return false
	}
	return os.Remove(path) == nil
}

// isOthers reports whether there is a process that lives, and uses the file.
func (f *file) isOthers() bool {
	signs, err := f.signs()
	if err != nil || !canLockFiles {
		return false
	}
	return slices.ContainsFunc(signs, func(s os.DirEntry) bool {
		if !s.Type().IsRegular() {
			return false
		}
		found, err := os.Open(filepath.Join(f.signsFolder(), s.Name()))
		if err != nil {
			return false
		}
		defer found.Close()
		free, err := lockFile(found)
		return err == nil && !free
	})
}

// freeAll gives back all that a process has that is dead, and returns the names of that.
func (f *file) freeAll(ctx context.Context, client string) (names []string, err error) {
	err = f.askFile(ctx, func(ctx context.Context, s *session) (err error) {
		names, err = f.layout.Of(ctx, s, client)
		return err
	})
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(names, mostSteps) {
		err := f.Write(ctx, &keeper.Step{Names: some, Decide: func(c *ledger.Clock, states []*ledger.State) {
			for _, s := range states {
				s.FreeDead(c, client)
			}
		}})
		if err != nil {
			return names, err
		}
	}
	return names, nil
}
