package deffile

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/plan"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// check refuses what a coordinator would refuse, and says in which line it is.
func (p *parser) check(d *txn.Definition) {
	c := *d // a mode's check fills in defaults, which are the coordinator's to choose
	err := plan.NewChecker(plan.Limits{}).Definition(&c)
	if err == nil {
		err = modeOf(d.Mode).Check(&c)
	}
	if err == nil && len(d.Branches) == 0 {
		err = &txn.FieldError{Field: "branches", Problem: "there are none"}
	}
	if problem, ok := errors.AsType[*txn.FieldError](err); ok {
		p.locate(d, problem)
	}
}

func modeOf(name string) txn.Mode {
	switch name {
	case saga.Name:
		return saga.Mode{}
	case tcc.Name:
		return tcc.Mode{}
	default:
		return msg.Mode{}
	}
}

// locate keeps a mistake with the line of its field, or of what the field is in.
func (p *parser) locate(d *txn.Definition, problem *txn.FieldError) {
	path, what := problem.Field, inWords(d.Mode, problem.Field)+": "
	if m := regexp.MustCompile(`^branches\[(\d+)\]\.?(.*)$`).FindStringSubmatch(path); m != nil {
		i, _ := strconv.Atoi(m[1])
		id := d.Branches[i].ID
		path, what = branchPath(id)+"."+m[2], inWords(d.Mode, m[2])
		if what != "" {
			what = strconv.Quote(clip(id)) + ": " + what + ": "
		}
	}
	p.fail(p.lineOf(path), "%s%s", what, problem.Problem)
}

// lineOf finds the longest beginning of a path whose line is known.
func (p *parser) lineOf(path string) int {
	for path != "" {
		if line, ok := p.lines[path]; ok {
			return line
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return 1
}

// inWords is what the mode's files call a field of the definition.
func inWords(mode, field string) string {
	words := map[string]map[string]string{
		saga.Name: {"do": "action", "undo": "compensate", "branches": "steps"},
		tcc.Name:  {"do": "try", "undo": "cancel"},
		msg.Name:  {"confirm": "to", "branches": "deliver"},
	}
	if word, ok := words[mode][field]; ok {
		return word
	}
	return field
}

// builderErrors keeps the mistakes that a builder found; they are about names used
// twice and empty parts, which have no field of their own.
func (p *parser) builderErrors(line int, err error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, e := range all {
		p.fail(line, "%s", e)
	}
}
