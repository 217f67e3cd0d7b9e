package subject

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// messageGoredis is what a hand-over cannot be quicker than: one process publishes, and another that is
// subscribed hears it. It excludes nobody, and is for two processes in turn.
func messageGoredis() Subject {
	return Subject{
		Name: "message-goredis", Role: Message, Client: goredisClient,
		Open: func(ctx context.Context, at Site, _ time.Duration) (Locker, error) {
			rdb, err := dialGoredis(ctx, at.Addr, at.Delay)
			if err != nil {
				return nil, err
			}
			return &messageLocker{rdb: rdb}, nil
		},
	}
}

type messageLocker struct{ rdb *redis.Client }

// Mutex implements Locker.
func (l *messageLocker) Mutex(name string) Mutex {
	return &messageMutex{locker: l, name: name, sender: newValues().prefix}
}

// Close implements Locker.
func (l *messageLocker) Close() error { return l.rdb.Close() }

// messageMutex is in the hands of one of two processes. What one publishes both hear.
type messageMutex struct {
	locker *messageLocker
	name   string
	sender string
	pubsub *redis.PubSub // nil before it had to wait
}

// Lock returns at once where nobody has it, and then with the message of who had it.
func (m *messageMutex) Lock(ctx context.Context) error {
	free, err := m.locker.rdb.SetNX(ctx, m.name, m.sender, time.Minute).Result()
	if err != nil || free {
		return err
	}
	if m.pubsub == nil {
		m.pubsub = m.locker.rdb.Subscribe(ctx, m.name)
	}
	for {
		message, err := m.pubsub.ReceiveMessage(ctx)
		if err != nil || message.Payload != m.sender {
			return err
		}
	}
}

// Unlock hands it to who waits, if somebody does.
func (m *messageMutex) Unlock(ctx context.Context) error {
	hear, err := m.locker.rdb.Publish(ctx, m.name, m.sender).Result()
	if m.pubsub != nil {
		hear--
	}
	if err == nil && hear <= 0 {
		err = m.locker.rdb.Del(ctx, m.name).Err()
	}
	return err
}
