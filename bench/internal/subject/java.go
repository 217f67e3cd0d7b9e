package subject

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed java
var javaSources embed.FS

// javaWorker is a worker that is a program of Java: JVMs do the work instead of this program. It needs a JDK and Maven,
// and keeps what these make in the user's cache.
type javaWorker struct {
	library, version string
	class            string // with the main method
}

// redisson is one of Redisson's locks. The worker knows by the name which lock it is.
func redisson(name string, kind Kind, role Role) Subject {
	w := javaWorker{library: "redisson", version: "4.7.0", class: "Redissons"}
	return Subject{Name: name, Role: role, Kind: kind, Program: w.workerCommand}
}

// curator is Curator's InterProcessMutex.
func curator() Subject {
	w := javaWorker{library: "curator", version: "5.9.0", class: "Curators"}
	return Subject{Name: "curator", Role: Peer, Store: ZooKeeper, Client: "curator", Program: w.workerCommand}
}

// workerCommand returns the command of a worker, which is built on first use.
func (w javaWorker) workerCommand(ctx context.Context) ([]string, error) {
	folder, err := w.folder()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err != nil {
		if err := w.build(ctx, folder); err != nil {
			return nil, fmt.Errorf("build %s's worker: %w", w.library, err)
		}
	}
	path := filepath.Join(folder, "jars", "*") + string(filepath.ListSeparator) + folder
	return []string{"java", "-cp", path, w.class}, nil
}

// sources are the names of its sources.
func (w javaWorker) sources() []string { return []string{"Worker.java", w.class + ".java"} }

// folder returns where the worker is: a place for what it is made of.
func (w javaWorker) folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range w.sources() {
		source, err := javaSources.ReadFile("java/" + name)
		if err != nil {
			return "", err
		}
		sum.Write(source)
	}
	return filepath.Join(cache, "bedrock-bench", w.library+"-"+w.version+"-"+hex.EncodeToString(sum.Sum(nil)[:4])), nil
}

// build makes the folder, complete or not at all.
func (w javaWorker) build(ctx context.Context, folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(folder), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := os.CopyFS(draft, javaSources); err != nil {
		return err
	}
	source, jars := filepath.Join(draft, "java"), filepath.Join(draft, "jars")
	compile := []string{"javac", "-cp", filepath.Join(jars, "*"), "-d", draft}
	for _, name := range w.sources() {
		compile = append(compile, filepath.Join(source, name))
	}
	for _, args := range [][]string{
		{
			"mvn", "-q", "-B", "-f", filepath.Join(source, "pom-"+w.library+".xml"), "-Dlibrary.version=" + w.version,
			"dependency:copy-dependencies", "-DoutputDirectory=" + jars,
		},
		compile,
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
	}
	return os.Rename(draft, folder)
}
