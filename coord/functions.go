package coord

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// functions are the participants in this process.
type functions struct {
	mu     sync.RWMutex
	byName map[string]txn.Func
}

func (fs *functions) add(name string, f txn.Func) error {
	if scheme, _ := plan.Scheme(txn.Target(name)); scheme != "" || plan.CheckTarget(txn.Target(name)) != nil {
		return fmt.Errorf("register %q: want a name of letters, digits and . _ - /", name)
	}
	if f == nil {
		return fmt.Errorf("register %q: the function is nil", name)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if _, ok := fs.byName[name]; ok {
		return fmt.Errorf("register %q: the name is taken", name)
	}
	if fs.byName == nil {
		fs.byName = make(map[string]txn.Func)
	}
	fs.byName[name] = f
	return nil
}

// lent is a call for a function to do with as it likes. What it changes in there must
// not be found in later calls, or in those to others at the same time.
func lent(call txn.Call) txn.Call {
	call.Payload, call.Result = bytes.Clone(call.Payload), bytes.Clone(call.Result)
	call.Headers = maps.Clone(call.Headers)
	return call
}

// check refuses a name that is not registered, and tells the one that may be meant.
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
