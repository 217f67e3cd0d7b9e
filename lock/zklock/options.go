package zklock

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// Options configure a client on ZooKeeper. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the backend. No lease may live for longer than three quarters of the
	// session: see Session.
	Lock lock.Options
	// Session is how long the servers keep the session of a client that is silent, and so all its locks when it has
	// died. The servers allow 2 to 20 of their ticks, 4 s to 40 s as they come: what they make of it counts. Defaults
	// to four thirds of Lock.TTL, and no less than 4 s.
	Session time.Duration
	// Root is the path below which the locks are, such as "/app/locks". Defaults to "/bedrock/lock". It is made when
	// it is not there, as containers, which the servers remove when they are empty.
	Root string
	// Profile is how names become paths. Defaults to [Escaped].
	Profile Profile
	// Username and Password are shown to the servers by the scheme "digest", if there is a Username.
	Username, Password string
	// ACL is who may do what with the nodes that are made. Defaults to everybody everything, as with Curator: others
	// who use the same locks have to be able to delete what is in their parents.
	ACL []ACL
	// TLS encrypts the connections, if it is set.
	TLS *tls.Config
	// Dial makes the connections, TLS aside. Defaults to that of a [net.Dialer], which looks host names up each time.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ACL is an entry of an access control list.
type ACL struct {
	Perms      Perms
	Scheme, ID string // such as "world" and "anyone"
}

// Perms are the permissions of ZooKeeper, added up.
type Perms int32

// The permissions.
const (
	Read Perms = 1 << iota
	Write
	Create
	Delete
	Admin

	All = Read | Write | Create | Delete | Admin
)

// Profile is how names become paths.
type Profile uint8

const (
	// Escaped takes any name: it is one element of a path, with what is not plain in it as %XX.
	Escaped Profile = iota
	// Curator takes a name as the rest of the path below Root, so that locks are those of Curator's recipes on the
	// same path, whatever the language. Names that are no path are refused, and one lock must not be below another:
	// its folder would wait there, as Curator has it.
	Curator
	// CuratorLatch takes names as Curator does, for elections: its mutexes are Curator's LeaderLatch on the same path,
	// and whoever campaigns takes part under its owner as id. There is no other kind of lock, and nothing is stored
	// beside it.
	CuratorLatch
)

// The limits of a session.
const (
	MinSession = 100 * time.Millisecond
	MaxSession = 48 * time.Hour

	shortestDefault = 4 * time.Second
	defaultTTL      = 30 * time.Second // as package lock has it
)

const defaultRoot = "/bedrock/lock"

func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Lock.TTL = cmp.Or(filled.Lock.TTL, defaultTTL)
	filled.Session = wholeMilliseconds(cmp.Or(filled.Session, max(sessionFor(filled.Lock.TTL), shortestDefault)))
	filled.Root = cmp.Or(filled.Root, defaultRoot)
	if len(filled.ACL) == 0 {
		filled.ACL = []ACL{{Perms: All, Scheme: "world", ID: "anyone"}}
	}
	filled.ACL = slices.Clone(filled.ACL)
	if filled.Lock.Logger == nil {
		filled.Lock.Logger = slog.Default()
	}
	if filled.Dial == nil {
		filled.Dial = (&net.Dialer{}).DialContext
	}
	return filled, filled.checkOptions()
}

func (o *Options) checkOptions() error {
	switch {
	case o.Session < MinSession || o.Session > MaxSession:
		return input.Errorf("session", "is %s, allowed are %s to %s", o.Session, MinSession, MaxSession)
	case o.Profile > CuratorLatch:
		return input.Errorf("profile", "is %d, allowed are Escaped, Curator and CuratorLatch", o.Profile)
	case o.Username == "" && o.Password != "":
		return &input.Error{Field: "username", Problem: "is empty, and there is a password"}
	case strings.Contains(o.Username, ":"):
		return &input.Error{Field: "username", Problem: "has a colon, which ends it"}
	}
	for _, a := range o.ACL {
		if a.Perms < 1 || a.Perms > All || a.Scheme == "" {
			return input.Errorf("acl", "has an entry with permissions %d of %q: want 1 to %d, and a scheme",
				a.Perms, a.Scheme, All)
		}
	}
	return checkPath("root", o.Root)
}

// A lease may live for three quarters of the session. The server that a client is connected to tells the leader of
// its sessions every half tick, so the leader may believe that the client has been silent for longer than it has. The
// rest of the session is more than that, for it is two ticks at least.
const (
	leaseShare = 3
	ofSession  = 4
)

// longestLease is how long a lease may live in a session.
func longestLease(session time.Duration) time.Duration { return session / ofSession * leaseShare }

// sessionFor is how long a session has to be for a lease.
func sessionFor(ttl time.Duration) time.Duration {
	return (ttl + leaseShare - 1) / leaseShare * ofSession
}

// wholeMilliseconds rounds a session up: servers count no less, and the library would cut the rest off.
func wholeMilliseconds(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
