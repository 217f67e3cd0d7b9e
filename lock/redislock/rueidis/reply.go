package rueidis

import (
	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/redislock"
)

// reply translates a command's outcome.
func reply(result rueidis.RedisResult) (redislock.Reply, error) {
	message, err := result.ToMessage()
	if rueidis.IsRedisNil(err) {
		return redislock.Reply{Nil: true}, nil
	}
	if err != nil {
		return redislock.Reply{}, classify(err)
	}
	return translate(&message)
}

// translate turns a message of rueidis into a reply.
func translate(m *rueidis.RedisMessage) (redislock.Reply, error) {
	switch {
	case m.IsNil():
		return redislock.Reply{Nil: true}, nil
	case m.IsInt64():
		n, err := m.AsInt64()
		return redislock.Reply{Int: n}, err
	case m.IsArray():
		return translateArray(m)
	case m.IsMap():
		return translateMap(m)
	default:
		text, err := m.ToString()
		return redislock.Reply{Str: text}, err
	}
}

func translateArray(m *rueidis.RedisMessage) (redislock.Reply, error) {
	values, err := m.ToArray()
	if err != nil {
		return redislock.Reply{}, err
	}
	items := make([]redislock.Reply, len(values))
	for i := range values {
		if items[i], err = translate(&values[i]); err != nil {
			return redislock.Reply{}, err
		}
	}
	return redislock.Reply{Items: items}, nil
}

func translateMap(m *rueidis.RedisMessage) (redislock.Reply, error) {
	values, err := m.ToMap()
	if err != nil {
		return redislock.Reply{}, err
	}
	items := make([]redislock.Reply, 0, 2*len(values))
	for key, value := range values {
		item, err := translate(&value)
		if err != nil {
			return redislock.Reply{}, err
		}
		items = append(items, redislock.Reply{Str: key}, item)
	}
	return redislock.Reply{Items: items}, nil
}

// classify tells what the server has answered from what happened on the way.
func classify(err error) error {
	if _, answered := rueidis.IsRedisErr(err); answered {
		return &redislock.ReplyError{Cause: err}
	}
	return err
}
