// Package history keeps what the processes of a run have seen, as lines of JSON in a
// folder: one file for each life of each process. A line is handed to the system at once,
// so that it outlives the process that is killed after it.
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
)

// extension is that of a file of lines.
const extension = ".jsonl"

// Now is the time on the clock that all processes of a machine share. It goes on while
// the machine sleeps, and nobody sets it.
func Now() time.Duration { return bootclock.Now() }

// Writer appends to the history of one life of one process. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	file   *os.File
	failed error
}

// Create begins the history of a life.
func Create(dir, life string) (*Writer, error) {
	file, err := os.OpenFile(filepath.Join(dir, life+extension), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &Writer{file: file}, nil
}

// Add appends a line.
func (w *Writer) Add(line any) {
	text, err := json.Marshal(line)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		_, err = w.file.Write(append(text, '\n'))
	}
	if w.failed == nil {
		w.failed = err
	}
}

// Close ends the history and tells of the first line that could not be written: a
// history with gaps proves nothing.
func (w *Writer) Close() error { return errors.Join(w.failed, w.file.Close()) }

// ErrNone says that a folder is none that a run has left behind.
var ErrNone = errors.New("holds no history")

// Lives lists the files of a folder, in order, as the names they were created under.
func Lives(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil, err
	}
	lives := make([]string, len(paths))
	for i, path := range paths {
		name := filepath.Base(path)
		lives[i] = name[:len(name)-len(extension)]
	}
	return lives, nil
}

// Read calls see for every line of a life. The last line of a process that was killed
// may be cut off; it is left out.
func Read[Line any](dir, life string, see func(*Line)) error {
	file, err := os.Open(filepath.Join(dir, life+extension))
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("history: %s: %w", life, err)
		}
		line := new(Line)
		if err := json.Unmarshal(text, line); err != nil {
			return fmt.Errorf("history: %s, line %d: %w", life, number, err)
		}
		see(line)
	}
}
