package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/stores"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// writeCircumstances says what the figures of a store were measured with.
func writeCircumstances(w io.Writer, server *stores.Server) error {
	if _, err := fmt.Fprintf(w, "%s %s, ", server.Store, server.Version); err != nil {
		return err
	}
	return writeMachine(w, librariesOf(server.Store)...)
}

// librariesOf returns words in the names of the libraries through which locks in a store are had.
func librariesOf(store subject.Store) []string {
	switch store {
	case subject.Redis:
		return []string{"redis", "redsync"}
	case subject.Etcd:
		return []string{"etcd/client/v3"}
	case subject.ZooKeeper:
		return []string{"go-zookeeper"}
	case subject.Postgres:
		return []string{"pgx"}
	case subject.MariaDB:
		return []string{"go-sql-driver"}
	default:
		return []string{"modernc.org/sqlite"}
	}
}

// writeMachine says what the figures below it were measured on, and with which of the
// libraries whose names have one of these words in them.
func writeMachine(w io.Writer, libraries ...string) error {
	_, err := fmt.Fprintf(w, "%s %s/%s, %d processors; %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), strings.Join(modules(libraries...), ", "))
	return err
}

// modules returns the versions of those libraries in this program whose names have
// one of these words in them.
func modules(words ...string) []string {
	info, found := debug.ReadBuildInfo()
	if !found {
		return nil
	}
	var list []string
	for _, m := range info.Deps {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(m.Path, word) }) {
			list = append(list, strings.TrimPrefix(m.Path, "github.com/")+" "+m.Version)
		}
	}
	return list
}
