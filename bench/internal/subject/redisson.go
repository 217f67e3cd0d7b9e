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

// redissonVersion is the one that is measured.
const redissonVersion = "4.7.0"

//go:embed redisson/Storm.java redisson/pom.xml
var redissonSources embed.FS

// redisson is one of Redisson's locks, in JVMs of its own: they do the work instead of this program, and know by the
// name which lock it is. It needs a JDK and Maven, and keeps what these make in the user's cache.
func redisson(name string, kind Kind, role Role) Subject {
	return Subject{Name: name, Role: role, Kind: kind, Program: redissonProgram}
}

// redissonProgram returns the command of a worker, which is built on first use.
func redissonProgram(ctx context.Context) ([]string, error) {
	folder, err := redissonFolder()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err != nil {
		if err := buildRedisson(ctx, folder); err != nil {
			return nil, fmt.Errorf("build redisson's worker: %w", err)
		}
	}
	path := filepath.Join(folder, "jars", "*") + string(filepath.ListSeparator) + folder
	return []string{"java", "-cp", path, "Storm"}, nil
}

// redissonFolder returns where the worker is: a place for what it is made of.
func redissonFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	source, err := redissonSources.ReadFile("redisson/Storm.java")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(source)
	return filepath.Join(cache, "bedrock-bench", "redisson-"+redissonVersion+"-"+hex.EncodeToString(sum[:4])), nil
}

// buildRedisson makes the folder, complete or not at all.
func buildRedisson(ctx context.Context, folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(folder), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := os.CopyFS(draft, redissonSources); err != nil {
		return err
	}
	source, jars := filepath.Join(draft, "redisson"), filepath.Join(draft, "jars")
	for _, args := range [][]string{
		{
			"mvn", "-q", "-B", "-f", filepath.Join(source, "pom.xml"), "-Dredisson.version=" + redissonVersion,
			"dependency:copy-dependencies", "-DoutputDirectory=" + jars,
		},
		{"javac", "-cp", filepath.Join(jars, "*"), "-d", draft, filepath.Join(source, "Storm.java")},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
	}
	return os.Rename(draft, folder)
}
