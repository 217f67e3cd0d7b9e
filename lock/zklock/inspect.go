package zklock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Inspect implements [driver.Inspector]. For how long a holder has the lock still the servers do not know: it is told
// the length of its lease, which is the most that can be left of it.
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	folder, err := b.layout.pathOf(name)
	if err != nil {
		return driver.Info{}, err
	}
	info, err := inSession(ctx, b, func() (driver.Info, error) {
		if err := b.catchUpIfBehind(folder); err != nil {
			return driver.Info{}, err
		}
		return b.readLock(name, folder)
	})
	return info, describe("inspect", name, err)
}

// catchUpIfBehind has the server know what was granted before the request, also over another one.
func (b *backend) catchUpIfBehind(folder string) error {
	if b.conn.standsAlone(b.conn.generation.Load()) {
		return nil
	}
	return b.catchUp(folder)
}

// readLock reads what is known of a lock.
func (b *backend) readLock(name, folder string) (driver.Info, error) {
	for {
		info := driver.Info{Name: name}
		found, err := b.contents(folder)
		if errors.Is(err, zk.ErrNoNode) {
			info.Token, err = b.newestAbove(folder)
			return info, err
		}
		if err != nil {
			return info, err
		}
		info.Token = newestToken(found.newest)
		if len(found.nodes) == 0 {
			return info, nil
		}
		info.Kind = found.recipe.lockKind()
		err = b.describeHolders(&info, found)
		if !errors.Is(err, errMoved) {
			return info, err
		}
	}
}

// contents is what there is of a lock.
type contents struct {
	recipe recipe
	folder string   // of the nodes
	nodes  []string // in order
	newest int64    // the last transaction that has changed what there is
}

// contents lists the nodes of a lock, whichever kind it is of.
func (b *backend) contents(folder string) (contents, error) {
	nodes, stat, err := b.conn.library().Children(folder)
	if err != nil {
		return contents{}, lacking(mayRead, folder, err)
	}
	c := contents{folder: folder, recipe: b.layout.recipeFor(driver.Mutex), newest: max(stat.Pzxid, stat.Czxid)}
	semaphore := false
	for _, n := range nodes {
		if isFolderOfSemaphore(n) {
			semaphore = semaphore || n == leasesFolder
			continue
		}
		if found, told := recipeOf(n); told {
			c.recipe = found
		}
		c.nodes = append(c.nodes, n)
	}
	if semaphore && len(c.nodes) == 0 {
		c.recipe, c.folder = leases, folder+"/"+leasesFolder
		c.nodes, stat, err = b.conn.library().Children(c.folder)
		if errors.Is(err, zk.ErrNoNode) {
			return c, nil
		}
		if err != nil {
			return c, lacking(mayRead, c.folder, err)
		}
		c.newest = max(c.newest, stat.Pzxid, stat.Czxid)
	}
	c.recipe.sortNodes(c.nodes)
	return c, nil
}

// holders are the nodes that have the lock.
func (c *contents) holders() []string {
	if c.recipe == leases {
		return c.nodes
	}
	return c.recipe.holders(c.nodes)
}

// describeHolders tells who has a lock, and how many wait. It fails with errMoved if that has changed.
func (b *backend) describeHolders(info *driver.Info, c contents) error {
	held := c.holders()
	info.Waiting = len(c.nodes) - len(held)
	for _, n := range held {
		data, node, err := b.readHolder(info.Name, &c, n)
		if err != nil {
			return err
		}
		h := describeHolder(n, data, node)
		if h.Mode = modeOf(c.recipe, n); h.Mode == driver.Shared { // it may be that of the writer it was
			h.Token = 0
		} else if h.Mode == driver.Permit {
			r, ours := parseRecord(data)
			info.Limit = max(info.Limit, r.Limit)
			if h.Permits = 1; ours && r.TTL == 0 && addPermit(info.Holders, h.Owner) {
				continue
			}
		}
		info.Holders = append(info.Holders, h)
	}
	return nil
}

// readHolder reads the node of a holder. Who listens, such as an observer of an election, is told when it is gone. A
// client that is told of its own turn hears of no other, though, or a release would wake all that stand in line.
func (b *backend) readHolder(name string, c *contents, node string) ([]byte, *zk.Stat, error) {
	own := b.inLineFor(name)
	alone := c.recipe == mutexes || c.recipe == elections
	if alone && (own == nil || own.onlyWaits()) && b.hub.needs(name, node) {
		seen, err := b.hub.arm(name, c.folder, node)
		if err != nil || seen == nil {
			return nil, nil, cmp.Or(err, errMoved)
		}
		return seen.data, seen.stat, nil
	}
	data, stat, err := b.conn.library().Get(c.folder + "/" + node)
	if errors.Is(err, zk.ErrNoNode) {
		err = errMoved
	}
	return data, stat, lacking(mayRead, c.folder+"/"+node, err)
}

// addPermit counts one more permit of a holder, if that is known.
func addPermit(holders []driver.Holder, owner string) bool {
	for i := range holders {
		if holders[i].Owner == owner {
			holders[i].Permits++
			return true
		}
	}
	return false
}

// modeOf is how the holder of a node has the lock.
func modeOf(r recipe, node string) driver.Mode {
	switch {
	case r == leases:
		return driver.Permit
	case r != readWrites:
		return driver.Exclusive
	case modeWord(node) == readWord:
		return driver.Shared
	}
	return driver.Write
}

// describeHolder says who has a node. That of another library lasts as long as its session.
func describeHolder(name string, data []byte, stat *zk.Stat) driver.Holder {
	h := driver.Holder{Owner: ownerOf(name, data), Since: time.UnixMilli(stat.Ctime), TTL: -1}
	token, _ := tokenOf(stat.Czxid)
	r, ours := parseRecord(data)
	if !r.Line {
		h.Token = token
	}
	if ours {
		h.TTL, h.Meta = time.Duration(r.TTL)*time.Millisecond, r.Meta
	}
	return h
}

// newestAbove returns the newest token that can have been given out below a folder which is not there any more: its
// end stands in the one above it.
func (b *backend) newestAbove(folder string) (uint64, error) {
	for at := strings.LastIndexByte(folder, '/'); at >= 0; at = strings.LastIndexByte(folder[:at], '/') {
		there, stat, err := b.conn.library().Exists(max(folder[:at], "/"))
		if err != nil || there {
			if err == nil {
				return newestToken(max(stat.Pzxid, stat.Czxid)), nil
			}
			return 0, err
		}
	}
	return 0, nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// List implements [driver.Inspector]. It looks at the folders one after the other.
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	infos, err := inSession(ctx, b, func() ([]driver.Info, error) {
		var found []driver.Info
		if err := b.catchUpIfBehind(b.layout.base); err != nil {
			return nil, err
		}
		err := b.walk(ctx, "", func(name, folder string) error {
			if !strings.HasPrefix(name, prefix) {
				return nil
			}
			info, err := b.readLock(name, folder)
			if err != nil || len(info.Holders) == 0 {
				return err
			}
			if found = append(found, info); len(found) >= limit {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return found, err
	})
	return infos, describe("list", prefix, err)
}

// walk visits the locks in a folder, told from the base on, and in those below it where names are paths: there a lock
// is a folder that has a node of the recipe.
func (b *backend) walk(ctx context.Context, below string, visit func(name, folder string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	nodes, _, err := b.conn.library().Children(b.layout.base + below)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return lacking(mayRead, b.layout.base+below, err)
	}
	slices.Sort(nodes)
	paths := b.layout.profile != Escaped
	semaphore, err := b.hasPermits(below, nodes)
	if err != nil {
		return err
	}
	if paths && below != "" && (semaphore || slices.ContainsFunc(nodes, isContender)) {
		if err := visit(below[1:], b.layout.base+below); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if paths && isContender(n) || semaphore && isFolderOfSemaphore(n) {
			continue
		}
		if err := b.walkInto(ctx, below+"/"+n, visit); err != nil {
			return err
		}
	}
	return nil
}

// hasPermits reports whether a folder is that of a semaphore of which somebody has permits. Only then are the folders
// below it not those of other locks, whose names may have the same words.
func (b *backend) hasPermits(below string, nodes []string) (bool, error) {
	if b.layout.profile == Escaped || below == "" || !slices.Contains(nodes, leasesFolder) {
		return false, nil
	}
	permits, _, err := b.conn.library().Children(b.layout.base + below + "/" + leasesFolder)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return slices.ContainsFunc(permits, func(n string) bool { return strings.Contains(n, leaseWord) }), err
}

// walkInto visits what a walk has come to.
func (b *backend) walkInto(ctx context.Context, path string, visit func(name, folder string) error) error {
	if b.layout.profile != Escaped {
		return b.walk(ctx, path, visit)
	}
	if name, ok := unescape(path[1:]); ok {
		return visit(name, b.layout.base+path)
	}
	return nil
}
