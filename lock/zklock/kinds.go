package zklock

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// The folders that a semaphore has in its own.
const (
	locksFolder  = "locks" // of the mutex that Curator's users have while they wait for a permit
	leasesFolder = "leases"
)

// isFolderOfSemaphore reports whether a node in the folder of a lock is one of those.
func isFolderOfSemaphore(node string) bool { return node == locksFolder || node == leasesFolder }

// recipeFor returns how locks of a kind are kept.
func (l *layout) recipeFor(kind driver.Kind) recipe {
	switch {
	case kind == driver.ReadWrite:
		return readWrites
	case kind == driver.Semaphore:
		return leases
	case l.profile == CuratorLatch:
		return elections
	}
	return mutexes
}

// folderOf returns where the nodes of a lock's grants are.
func (l *layout) folderOf(name string, mode driver.Mode) (string, error) {
	folder, err := l.pathOf(name)
	if mode == driver.Permit {
		folder += "/" + leasesFolder
	}
	return folder, err
}

// inLine returns the nodes in a lock's folder that stand in its line. It refuses a folder that is that of another
// kind of lock. What a semaphore has left behind that nobody uses any more is removed: the servers would do so within
// minutes.
func (b *backend) inLine(folder string, nodes []string, r recipe) ([]string, error) {
	var line []string
	for _, n := range nodes {
		if !isFolderOfSemaphore(n) {
			if found, told := recipeOf(n); told && found != r {
				return nil, otherRecipe(found, r)
			}
			line = append(line, n)
			continue
		}
		err := b.conn.library().Delete(folder+"/"+n, -1)
		if errors.Is(err, zk.ErrNotEmpty) {
			return nil, otherRecipe(leases, r)
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, lacking(mayDelete, folder, err)
		}
	}
	return line, nil
}

// otherRecipe says that a lock is of another kind than it was asked for as.
func otherRecipe(found, wanted recipe) error {
	if found.lockKind() == wanted.lockKind() {
		return fmt.Errorf("%w: nodes of a mutex and of an election are in one folder", driver.ErrKind)
	}
	return &driver.KindError{Found: found.lockKind(), Wanted: wanted.lockKind()}
}

// checkSupported refuses what the nodes do not tell.
func (l *layout) checkSupported(req *driver.Request) error {
	switch {
	case req.Mode == driver.Exclusive:
		return req.CheckExclusive()
	case req.Mode > driver.Permit || l.profile == CuratorLatch:
		return fmt.Errorf("%w: mode %s", driver.ErrUnsupported, req.Mode)
	case req.Upgradeable:
		return fmt.Errorf("%w: readers who may become writers", driver.ErrUnsupported)
	case req.Mode == driver.Write && req.Over != "":
		return driver.ErrBelow // who reads could not be asked for to write
	case req.Permits > mostPermits:
		return fmt.Errorf("%w: %d permits at once, each of which is a node: %d at most", driver.ErrRefused,
			req.Permits, mostPermits)
	}
	return nil
}
