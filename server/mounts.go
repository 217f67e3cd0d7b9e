package server

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/server/auth"
)

// Mount is a handler beside the API. Its requests pass the same gate, count within the
// same limits as calls, and may finish when the server stops; one that would go on for
// longer ends with [Stopping]. A browser is kept from making them for the page of another
// site. [auth.CredentialFrom] says who makes one. If the handler panics, the log has its
// stack, and the connection is cut off.
type Mount struct {
	// Pattern says which requests are meant, as [http.ServeMux] has it, such as "GET /metrics"
	// or "/". A path of the API, or /livez, is refused: its requests would never come here.
	Pattern string
	Handler http.Handler
	// Role is what a request needs. Default: that of a viewer to read, with GET or HEAD,
	// and of an operator for all else.
	Role func(*http.Request) auth.Role
}

// mounts are what a server has beside its API.
type mounts struct {
	routes *http.ServeMux
	roles  map[string]func(*http.Request) auth.Role // by pattern
}

func newMounts(own, further []Mount) (*mounts, error) {
	m := &mounts{routes: http.NewServeMux(), roles: make(map[string]func(*http.Request) auth.Role)}
	for _, one := range own {
		if err := m.add("", one); err != nil {
			return nil, err
		}
	}
	for i, one := range further {
		field := fmt.Sprintf("mounts[%d].", i)
		if isOfAPI(one.Pattern) {
			return nil, patternError(field, one, "the path is the server's own, so no request would come here")
		}
		if err := m.add(field, one); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *mounts) add(field string, one Mount) (err error) {
	if one.Handler == nil {
		return &input.Error{Field: field + "handler", Problem: "is nil"}
	}
	if one.Role == nil {
		one.Role = roleOfMethod
	}
	defer func() {
		if problem := recover(); problem != nil { // nobody else knows what a pattern is
			err = patternError(field, one, readable(problem))
		}
	}()
	m.routes.Handle(one.Pattern, http.NewCrossOriginProtection().Handler(one.Handler))
	m.roles[one.Pattern] = one.Role
	return nil
}

// isOfAPI reports whether the gate sends a pattern's path elsewhere, whatever its host.
func isOfAPI(pattern string) bool {
	_, path, _ := strings.Cut(pattern, "/")
	_, isCall := procedures()["/"+path]
	return isCall || strings.HasPrefix("/"+path, apiPrefix) || "/"+path == livePath
}

func patternError(field string, one Mount, problem string) error {
	return input.Errorf(field+"pattern", "%.80q: %s", one.Pattern, problem)
}

// readable leaves out of what [http.ServeMux] says where in this file it was called.
func readable(problem any) string {
	return strings.Join(strings.Fields(registeredAt.ReplaceAllString(fmt.Sprint(problem), "")), " ")
}

var registeredAt = regexp.MustCompile(` \(registered at .*?:\d+\)`)

// roleFor is the least role that a request needs.
func (m *mounts) roleFor(r *http.Request) auth.Role {
	_, pattern := m.routes.Handler(r)
	if role, ok := m.roles[pattern]; ok {
		return role(r)
	}
	return roleOfMethod(r)
}

// roleOfMethod is the least role where nothing else is said: whatever may change something
// needs an operator.
func roleOfMethod(r *http.Request) auth.Role {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return auth.Viewer
	}
	return auth.Operator
}

// everybody is the role for pages that say nothing but how the server is.
func everybody(*http.Request) auth.Role { return auth.Nobody }
