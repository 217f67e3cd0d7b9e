// Package peer builds and runs the Java programs that use the libraries Bedrock shares its locks with.
//
// Such a program is driven by lines on its standard input: "id thread command name argument". Each is answered by
// "id result". It says "ready" when it is connected, and ends when its input does.
package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

const jdk = "package default-jdk-headless"

// Source is where a program comes from.
type Source struct {
	// Folder has its sources, and a pom.xml that names the libraries.
	Folder string
	// Properties are those of Maven that the pom leaves open, such as redisson.version=4.7.0.
	Properties []string
	// Main is the class that is run.
	Main string
}

// Program is one that was compiled.
type Program struct {
	main    string
	classes string // the class path
	archive string // of what Java loads to begin with: it starts in a fifth of the time by that
}

// CheckTools skips a test where programs cannot be built.
func CheckTools(t *testing.T) {
	t.Helper()
	for _, program := range []string{"java", "javac", "jar"} {
		testenv.Program(t, program, jdk)
	}
	testenv.Program(t, "mvn", "package maven")
}

// Build compiles a program into a folder, and runs it once: with those arguments it ends as soon as it is ready.
func (s *Source) Build(folder string, arguments ...string) (*Program, error) {
	jars, classes := filepath.Join(folder, "jars"), filepath.Join(folder, "classes")
	sources, err := filepath.Glob(filepath.Join(s.Folder, "*.java"))
	if err != nil {
		return nil, err
	}
	maven := []string{"mvn", "-q", "-B", "-f", filepath.Join(s.Folder, "pom.xml")}
	for _, property := range s.Properties {
		maven = append(maven, "-D"+property)
	}
	for _, command := range [][]string{
		append(maven, "dependency:copy-dependencies", "-DoutputDirectory="+jars),
		append([]string{"javac", "-cp", filepath.Join(jars, "*"), "-d", classes}, sources...),
		{"jar", "--create", "--file", filepath.Join(jars, "peer.jar"), "-C", classes, "."},
	} {
		if err := runCommand(command); err != nil {
			return nil, err
		}
	}
	found, err := filepath.Glob(filepath.Join(jars, "*.jar"))
	if err != nil {
		return nil, err
	}
	p := &Program{
		main: s.Main, classes: strings.Join(found, string(os.PathListSeparator)), archive: folder + "/classes.jsa",
	}
	return p, p.archiveClasses(arguments)
}

// archiveClasses makes the archive.
func (p *Program) archiveClasses(arguments []string) error {
	return runCommand(append([]string{
		"java", "-XX:+UseSerialGC", "-XX:ArchiveClassesAtExit=" + p.archive, "-cp", p.classes, p.main,
	}, arguments...))
}

// flags are those of java for the program.
func (p *Program) flags() []string {
	return []string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:SharedArchiveFile=" + p.archive, "-Xshare:auto",
		"-Xlog:disable", "-Xlog:all=error:stderr", "-cp", p.classes, p.main,
	}
}

func runCommand(command []string) error {
	if out, err := exec.CommandContext(context.Background(), command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}
