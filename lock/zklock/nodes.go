package zklock

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// The names of nodes, as Curator's recipes have them.
const (
	protected = "_c_"
	lockWord  = "lock-"
	latchWord = "latch-"
	readWord  = "__READ__"
	writeWord = "__WRIT__"
	leaseWord = "lease-"
)

// prefixOf is how the name of an owner's node begins. Whoever knows the owner finds its node, whether the answer to
// the request that has made it came or not.
func prefixOf(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // as a UUID is told
	text := hex.EncodeToString(id)
	return protected + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:] + "-"
}

// ofPrefix returns the nodes of an owner.
func ofPrefix(nodes []string, prefix string) (own []string) {
	for _, n := range nodes {
		if strings.HasPrefix(n, prefix) {
			own = append(own, n)
		}
	}
	return own
}

// nodeOf returns the first node of an owner, of nodes in order; "" if it has none.
func nodeOf(nodes []string, prefix string) string {
	if own := ofPrefix(nodes, prefix); len(own) > 0 {
		return own[0]
	}
	return ""
}

// recipe is one of Curator's, whose nodes stand in one line.
type recipe uint8

const (
	mutexes    recipe = iota // InterProcessMutex
	elections                // LeaderLatch
	readWrites               // InterProcessReadWriteLock
	leases                   // InterProcessSemaphoreV2, in a folder of their own
)

// nameWords are what the names of the recipe's nodes have before their numbers.
func (r recipe) nameWords() []string {
	return [...][]string{{lockWord}, {latchWord}, {readWord, writeWord}, {leaseWord}}[r]
}

// lockKind is what the recipe's locks are.
func (r recipe) lockKind() driver.Kind {
	return [...]driver.Kind{driver.Mutex, driver.Mutex, driver.ReadWrite, driver.Semaphore}[r]
}

// wordOf is what the name of a grant's node has before its number.
func (r recipe) wordOf(mode driver.Mode) string {
	if mode == driver.Write {
		return writeWord
	}
	return r.nameWords()[0]
}

// sortKey is what of a node's name says where it stands: what follows the recipe's word, or all of it where that is
// not. Anything in the folder of a lock stands in its line, whoever has put it there.
func (r recipe) sortKey(node string) string {
	for _, word := range r.nameWords() {
		if at := strings.LastIndex(node, word); at >= 0 {
			node = node[at+len(word):]
		}
	}
	return node
}

// sortNodes puts nodes in the order in which they have the lock. A reader may have the number of the writer over which
// it has the lock: then that goes first.
func (r recipe) sortNodes(nodes []string) {
	slices.SortStableFunc(nodes, func(a, b string) int {
		if order := strings.Compare(r.sortKey(a), r.sortKey(b)); order != 0 || r != readWrites {
			return order
		}
		return strings.Compare(modeWord(b), modeWord(a))
	})
}

// modeWord is the word of a reader's node, or of a writer's; "" of any other.
func modeWord(node string) string {
	for _, word := range []string{writeWord, readWord} {
		if strings.Contains(node, word) {
			return word
		}
	}
	return ""
}

// ahead returns where the node is that the one at an index waits for; -1 if that has the lock. A reader waits for the
// nearest writer before it, and all others for the node before them.
func (r recipe) ahead(nodes []string, at int) int {
	if r != readWrites || modeWord(nodes[at]) != readWord {
		return at - 1
	}
	for before := at - 1; before >= 0; before-- {
		if modeWord(nodes[before]) == writeWord && r.sortKey(nodes[before]) < r.sortKey(nodes[at]) {
			return before
		}
	}
	return -1
}

// inTheWay returns the first node because of which a newcomer does not get the lock; -1 if there is none.
func (r recipe) inTheWay(nodes []string, mode driver.Mode) int {
	if mode == driver.Shared {
		return slices.IndexFunc(nodes, func(n string) bool { return modeWord(n) == writeWord })
	}
	return min(len(nodes), 1) - 1
}

// holders returns the nodes that have the lock, of nodes in order.
func (r recipe) holders(nodes []string) (held []string) {
	for at, n := range nodes {
		if r.ahead(nodes, at) < 0 {
			held = append(held, n)
		}
	}
	return held
}

// recipeOf returns the recipe that a node in the folder of a lock is of, if it tells.
func recipeOf(node string) (r recipe, told bool) {
	switch {
	case modeWord(node) != "":
		return readWrites, true
	case strings.Contains(node, lockWord):
		return mutexes, true
	case strings.Contains(node, latchWord):
		return elections, true
	}
	return 0, false
}

// isContender reports whether a node is one of a recipe.
func isContender(node string) bool {
	_, told := recipeOf(node)
	return told && strings.Contains(node, protected)
}

// The server counts the nodes that were ever made in a folder, and stays at the last number for good: whoever comes
// then ties with all others.
const (
	lastSequence = 1<<31 - 1
	nearTheEnd   = lastSequence - 10_000_000
)

// sequenceOf returns the number that the server has given a node; -1 if that is none.
func (r recipe) sequenceOf(node string) int64 {
	n, err := strconv.ParseInt(r.sortKey(node), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
