package auth

import "fmt"

// Role is what a client may do. Each includes those before it.
type Role uint8

const (
	// Nobody may only ask whether the server lives.
	Nobody Role = iota
	// Viewer may look at transactions and locks.
	Viewer
	// Client may submit and complete transactions, and lock.
	Client
	// Operator may intervene, take locks away and subscribe to topics.
	Operator
	// Admin may do everything.
	Admin
)

// String is the role's name.
func (r Role) String() string {
	return [...]string{"nobody", "viewer", "client", "operator", "admin"}[min(r, Admin)]
}

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Admin; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return Nobody, fmt.Errorf("%.40q is no role: want viewer, client, operator or admin", name)
}
