package etcdlock

import (
	"strings"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// DefaultPrefix is where locks of the profile [Own] are. It keeps them apart from all else that is in the store, and
// is what a role has to be granted.
const DefaultPrefix = "bedrock/lock/"

// MaxPrefix is how long a prefix may be, in bytes.
const MaxPrefix = 256

// Options configure a client on etcd. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the backend.
	Lock lock.Options
	// Profile is whose locks are shared. Defaults to [Own].
	Profile Profile
	// Prefix is what the keys of all locks begin with, in the profile [Own]; it ends in a slash. Defaults to
	// [DefaultPrefix]. All clients of a lock need the same.
	Prefix string
}

// Profile is a layout of locks, shared with other libraries or not.
type Profile uint8

const (
	// Own keeps all names apart: slashes in them are escaped, and keys are below [Options.Prefix].
	Own Profile = iota
	// Compatible shares locks with etcdctl lock, concurrency.Mutex of the Go client, and the lock service of the
	// server, by which jetcd locks: the keys of a lock are below its name and a slash. For those others, not for
	// clients of Bedrock, a name is held, too, while somebody has one that goes on with a slash after it.
	Compatible
	// Elections shares elections with concurrency.Election of the Go client and etcdctl elect: see package election.
	// Keys are those of [Compatible], but what is stored there is what its candidate proposes, of the metadata that
	// which has the key [ProposalKey], or all of it. Nothing else is: how long a term lasts unless it is renewed is
	// told by its lease alone, and of who waits nobody sees whether it does so as a fair one.
	Elections
)

func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	if err := filled.checkAll(); err != nil {
		return filled, err
	}
	if filled.Prefix == "" && filled.Profile == Own {
		filled.Prefix = DefaultPrefix
	}
	return filled, nil
}

func (o *Options) checkAll() error {
	switch {
	case o.Profile > Elections:
		return input.Errorf("profile", "is %d, allowed are Own, Compatible and Elections", o.Profile)
	case o.Profile != Own && o.Prefix != "":
		return input.Errorf("prefix", "is %q, but keys of Compatible and Elections begin with names", o.Prefix)
	case o.Prefix == "":
		return nil
	case len(o.Prefix) > MaxPrefix:
		return input.Errorf("prefix", "is %d bytes long, the limit is %d", len(o.Prefix), MaxPrefix)
	case !utf8.ValidString(o.Prefix):
		return input.Errorf("prefix", "%q is not valid UTF-8", o.Prefix)
	case !strings.HasSuffix(o.Prefix, "/"):
		return input.Errorf("prefix", "is %q, it must end in a slash", o.Prefix)
	}
	return nil
}
