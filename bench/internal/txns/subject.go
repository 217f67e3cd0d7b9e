package txns

import (
	"net/url"
	"strings"
)

// Role says what a subject is compared as.
type Role int

// The roles.
const (
	// Bedrock is what is under test.
	Bedrock Role = iota
	// Minimal is the minimal coordinator.
	Minimal
	// DTM is a DTM server.
	DTM
	// Floor is a store or a transport without any coordinator.
	Floor
)

// Subject is one thing to measure.
type Subject struct {
	// Name is how reports call it.
	Name string
	// Role says what it is compared as.
	Role Role
	// Store is where its transactions are kept.
	Store string
	// Replicas is how many coordinators share the store.
	Replicas int
	// URL is where it is, if somebody else has started it.
	URL string
}

// Server is a DTM server that somebody has started.
type Server struct {
	// Store is what it keeps its transactions in.
	Store string
	// URL is where it is.
	URL string
}

// ParseServers reads URL or STORE=URL,STORE=URL. A DTM server does not say what its
// store is; a URL alone means boltdb, its default.
func ParseServers(text string) ([]Server, error) {
	var list []Server
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		store, address, found := strings.Cut(part, "=")
		if !found {
			store, address = "boltdb", part
		}
		if u, err := url.Parse(address); err != nil || u.Host == "" {
			return nil, &url.Error{Op: "parse", URL: address, Err: errNoServer}
		}
		list = append(list, Server{Store: store, URL: address})
	}
	return list, nil
}

// bedrock is Bedrock on a store.
func bedrock(store string) Subject {
	return Subject{Name: "bedrock-" + store, Role: Bedrock, Store: store, Replicas: 1}
}

// pair is two replicas of Bedrock on a store.
func pair(store string) Subject {
	return Subject{Name: "bedrock-" + store + "-x2", Role: Bedrock, Store: store, Replicas: 2}
}

// minimal is the minimal coordinator.
func minimal() Subject { return Subject{Name: "minimal", Role: Minimal, Store: "log"} }

// dtmServer is somebody's DTM server.
func dtmServer(s Server) Subject {
	return Subject{Name: "dtm-" + s.Store, Role: DTM, Store: s.Store, URL: s.URL}
}

// storeFloor is a store alone.
func storeFloor(store string) Subject {
	return Subject{Name: store, Role: Floor, Store: store}
}

// httpFloor is a round trip to a participant.
func httpFloor() Subject { return Subject{Name: "http", Role: Floor} }
