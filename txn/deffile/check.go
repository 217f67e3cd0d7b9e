package deffile

import (
	"errors"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Check refuses what a coordinator with default limits would refuse, as far as that can be
// known without one.
func (f *File) Check() error {
	d := f.Definition // a mode's check fills in defaults, which are the coordinator's to choose
	err := check.New(check.Limits{}).Definition(&d)
	if err == nil {
		err = modes.Get(d.Mode).Check(&d)
	}
	if err == nil && len(d.Branches) == 0 {
		err = &txn.InvalidError{Field: "branches", Problem: "there are none"}
	}
	return f.Locate(err)
}

// Locate says where in the file is what a coordinator has refused of its definition: the
// line, and the field in the file's own words. Other errors are returned as they are.
func (f *File) Locate(err error) error {
	if _, inDoubt := errors.AsType[*txn.InDoubtError](err); inDoubt {
		return err
	}
	var found mistakes
	for _, wrong := range input.All(err) {
		line, field := f.parser.find(&f.Definition, wrong.Field)
		found.add(&Error{File: f.parser.file, Line: line, Field: field, Problem: wrong.Problem})
	}
	if len(found) == 0 {
		return err
	}
	return found.err()
}

// builderErrors keeps the mistakes that a builder found; they are about names used
// twice and empty parts.
func (p *parser) builderErrors(err error) {
	for _, wrong := range input.All(err) {
		line, field := p.find(&txn.Definition{}, wrong.Field)
		p.addMistake(line, field, "%s", wrong.Problem)
	}
}
