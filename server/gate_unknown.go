package server

import (
	"errors"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/internal/nearest"
)

// speaksAPI reports whether a request is in one of the protocols that the API is spoken in.
func speaksAPI(r *http.Request) bool {
	kind := r.Header.Get("Content-Type")
	return r.Method == http.MethodPost && (strings.HasPrefix(kind, "application/json") ||
		strings.HasPrefix(kind, "application/proto") || strings.HasPrefix(kind, "application/grpc") ||
		strings.HasPrefix(kind, "application/connect+"))
}

// strangeRequest answers a request in none of the protocols. The library's own answer has the
// right status and headers, and not a word.
func (g *gate) strangeRequest(w http.ResponseWriter, r *http.Request) {
	g.api.ServeHTTP(&refusing{w, r, g.errors}, r)
}

// refusing says what is wrong with a request when its refusal is written.
type refusing struct {
	http.ResponseWriter

	request *http.Request
	errors  *connect.ErrorWriter
}

// WriteHeader implements [http.ResponseWriter].
func (w *refusing) WriteHeader(status int) {
	switch status {
	case http.StatusUnsupportedMediaType:
		kind := w.request.Header.Get("Content-Type")
		problem := fieldpath.Clip(kind) + ": want application/json, application/proto, or gRPC"
		if kind == "" {
			problem = "is missing; want application/json, application/proto, or gRPC"
		}
		err := input.Errorf("Content-Type", "%s", problem)
		writeWithStatus(w.ResponseWriter, w.request, w.errors, status, apiwire.Invalid(err))
	case http.StatusMethodNotAllowed:
		err := input.Errorf("method", "%s: want POST", fieldpath.Clip(w.request.Method))
		writeWithStatus(w.ResponseWriter, w.request, w.errors, status, apiwire.Invalid(err))
	default:
		w.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap lets others find what the writer is able to do.
func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unknownProcedure answers a call that there is none of, with the one that may be meant.
func (g *gate) unknownProcedure(w http.ResponseWriter, r *http.Request) {
	text := "there is no procedure " + fieldpath.Clip(strings.TrimPrefix(r.URL.Path, "/"))
	service, name := path.Split(r.URL.Path)
	known := g.proceduresOf(service)
	switch near := nearest.To(name, known); {
	case near != "":
		text += "; did you mean " + near + "?"
	case len(known) > 0:
		text += "; there are " + strings.Join(known, ", ")
	default:
		text += "; the services are LockService and TransactionService"
	}
	writeWithStatus(w, r, g.errors, http.StatusNotFound, connect.NewError(connect.CodeUnimplemented, errors.New(text)))
}

// proceduresOf lists the procedures of a service.
func (g *gate) proceduresOf(service string) (names []string) {
	for _, one := range slices.Sorted(maps.Keys(g.procedures)) {
		if of, name := path.Split(one); of == service {
			names = append(names, name)
		}
	}
	return names
}

// writeWithStatus writes an error; where the protocol has the status of HTTP for it, that is the
// one given.
func writeWithStatus(
	w http.ResponseWriter, r *http.Request, errors *connect.ErrorWriter, status int, err *connect.Error,
) {
	_ = errors.Write(&statusOf{w, status}, r, err) // nobody is left to be told
}

// statusOf writes another status than that of its code.
type statusOf struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusOf) WriteHeader(status int) {
	if status != http.StatusOK { // gRPC has its own
		status = w.status
	}
	w.ResponseWriter.WriteHeader(status)
}
