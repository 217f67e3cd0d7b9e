package redisstore

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// errAnswer says that a script answered something else than it should.
var errAnswer = errors.New("the script's answer has the wrong form")

// listOf returns an answer that is a list of at least n items.
func listOf(result redisconn.Result, n int) (redisconn.Reply, error) {
	if count := result.Reply.Len(); result.Err == nil && count < n {
		return redisconn.Reply{}, fmt.Errorf("%w: %d items", errAnswer, count)
	}
	return result.Reply, result.Err
}

// textsOf are the items of a list of texts.
func textsOf(list redisconn.Reply) []string {
	texts := make([]string, list.Len())
	for i := range texts {
		texts[i] = list.At(i).Str
	}
	return texts
}

// readRecord makes a record of what [Store.read] has read.
func readRecord(id string, result redisconn.Result) (*driver.Record, error) {
	fields, err := listOf(result, 1)
	if err != nil {
		return nil, err
	}
	if fields.At(0).Nil {
		return nil, driver.ErrNotFound
	}
	return parse(id, fields, 0)
}
