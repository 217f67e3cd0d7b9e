package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// account is whom PostgreSQL runs as.
type account struct {
	uid, gid int
	other    bool // not ourselves
}

// postgresAccount is ourselves, unless we are root, which PostgreSQL refuses to
// be: then it is the user its package has made, or nobody.
func postgresAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return accountOf(u)
		}
	}
	return account{}, errors.New("postgres: cannot run as root, and there is neither a user postgres nor nobody")
}

func accountOf(u *user.User) (account, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, fmt.Errorf("postgres: user %s: %w", u.Username, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return account{}, fmt.Errorf("postgres: user %s: %w", u.Username, err)
	}
	return account{uid: uid, gid: gid, other: true}, nil
}
