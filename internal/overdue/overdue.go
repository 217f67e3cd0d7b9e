// Package overdue gives tests deadlines that come when something has happened: no clock
// knows when that is.
package overdue

import "context"

// Context is one whose deadline comes when it is told.
type Context struct {
	context.Context //nolint:containedctx // it is one

	come chan struct{}
}

// New returns a context whose deadline has not come yet.
func New() *Context {
	return &Context{Context: context.Background(), come: make(chan struct{})}
}

// Come says that the deadline has come.
func (c *Context) Come() { close(c.come) }

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} { return c.come }

// Err implements [context.Context].
func (c *Context) Err() error {
	select {
	case <-c.come:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
