package rueidis

import (
	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
)

// reply translates a command's outcome.
func reply(result rueidis.RedisResult) (redisconn.Reply, error) {
	message, err := result.ToMessage()
	if rueidis.IsRedisNil(err) {
		return redisconn.Reply{Nil: true}, nil
	}
	if err != nil {
		return redisconn.Reply{}, classify(err)
	}
	return translate(&message)
}

// translate turns a message of rueidis into a reply.
func translate(m *rueidis.RedisMessage) (redisconn.Reply, error) {
	switch {
	case m.IsNil():
		return redisconn.Reply{Nil: true}, nil
	case m.IsInt64():
		n, err := m.AsInt64()
		return redisconn.Reply{Int: n}, err
	case m.IsArray():
		return translateArray(m)
	case m.IsMap():
		return translateMap(m)
	default:
		text, err := m.ToString()
		return redisconn.Reply{Str: text}, err
	}
}

func translateArray(m *rueidis.RedisMessage) (redisconn.Reply, error) {
	values, err := m.ToArray()
	return redisconn.Reply{List: list(values)}, err
}

// list is an array of rueidis.
type list []rueidis.RedisMessage

// Len implements redisconn.List.
func (l list) Len() int { return len(l) }

// At implements redisconn.List. An error among the items is a text, as go-redis has it.
func (l list) At(i int) redisconn.Reply {
	item, err := translate(&l[i])
	if err != nil {
		return redisconn.Reply{Str: err.Error()}
	}
	return item
}

func translateMap(m *rueidis.RedisMessage) (redisconn.Reply, error) {
	values, err := m.ToMap()
	if err != nil {
		return redisconn.Reply{}, err
	}
	items := make(redisconn.Replies, 0, 2*len(values))
	for key, value := range values {
		item, err := translate(&value)
		if err != nil {
			return redisconn.Reply{}, err
		}
		items = append(items, redisconn.Reply{Str: key}, item)
	}
	return redisconn.Reply{List: items}, nil
}

// classify tells what the server has answered from what happened on the way.
func classify(err error) error {
	if _, answered := rueidis.IsRedisErr(err); answered {
		return &redisconn.ReplyError{Cause: err}
	}
	return err
}
