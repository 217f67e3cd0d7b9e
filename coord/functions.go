package coord

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// functions are the participants in this process.
type functions struct {
	mu     sync.RWMutex
	byName map[string]txn.Func
}

func (fs *functions) add(name string, f txn.Func) error {
	if target := txn.Target(name); target.Scheme() != "" || check.Target(target) != nil {
		return input.Errorf("name", "%.80q: want letters, digits and . _ - /", name)
	}
	if f == nil {
		return input.Errorf("function", "%q is nil", name)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if _, ok := fs.byName[name]; ok {
		return input.Errorf("name", "%q is taken", name)
	}
	if fs.byName == nil {
		fs.byName = make(map[string]txn.Func)
	}
	fs.byName[name] = f
	return nil
}

// check refuses a name that is not registered, and suggests the one that may be meant.
func (fs *functions) check(name string) error {
	if _, ok := fs.get(name); ok {
		return nil
	}
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	text := fmt.Sprintf("no function %q is registered", name)
	if near := nearest.To(name, slices.Sorted(maps.Keys(fs.byName))); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

func (fs *functions) get(name string) (txn.Func, bool) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	f, ok := fs.byName[name]
	return f, ok
}
