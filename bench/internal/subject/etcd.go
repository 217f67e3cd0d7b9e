package subject

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// etcdClient is the name of the client of all of them.
const etcdClient = "clientv3"

// onEtcd returns those whose locks are in etcd.
func onEtcd() []Subject {
	return []Subject{
		etcdSubject("bedrock-etcd", Bedrock, func(c *clientv3.Client, lease time.Duration) (Locker, error) {
			locks, err := etcdlock.New(c, &etcdlock.Options{Lock: lock.Options{TTL: lease}})
			return bedrockOf(locks, err, c.Close)
		}),
		etcdSubject("etcd-mutex", Peer, func(c *clientv3.Client, lease time.Duration) (Locker, error) {
			return newEtcdLocker(c, lease), nil
		}),
		etcdSubject("raw-etcd", Raw, func(c *clientv3.Client, _ time.Duration) (Locker, error) {
			return rawEtcdLocker{c}, nil
		}),
	}
}

// etcdSubject is one that opens what it is with a client of its own.
func etcdSubject(name string, role Role, open func(*clientv3.Client, time.Duration) (Locker, error)) Subject {
	return Subject{
		Name: name, Role: role, Store: Etcd, Client: etcdClient,
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			client, err := clientv3.New(clientv3.Config{Endpoints: []string{at.Addr}, Logger: zap.NewNop()})
			if err != nil {
				return nil, fmt.Errorf("connect to etcd at %s: %w", at.Addr, err)
			}
			if _, err := client.Get(ctx, "/"); err != nil {
				return nil, fmt.Errorf("connect to etcd at %s: %w", at.Addr, err)
			}
			return open(client, lease)
		},
	}
}

// rawEtcdLocker puts a key that is not there, and deletes it.
type rawEtcdLocker struct{ client *clientv3.Client }

// Mutex implements Locker.
func (l rawEtcdLocker) Mutex(name string) Mutex { return rawEtcdMutex{l.client, name} }

// Close implements Locker.
func (l rawEtcdLocker) Close() error { return l.client.Close() }

type rawEtcdMutex struct {
	client *clientv3.Client
	name   string
}

// Lock fails when the key is there; it does not wait.
func (m rawEtcdMutex) Lock(ctx context.Context) error {
	answer, err := m.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(m.name), "=", 0)).
		Then(clientv3.OpPut(m.name, "")).
		Commit()
	if err == nil && !answer.Succeeded {
		err = errTaken
	}
	return err
}

// Unlock implements Mutex.
func (m rawEtcdMutex) Unlock(ctx context.Context) error {
	answer, err := m.client.Delete(ctx, m.name)
	if err == nil && answer.Deleted == 0 {
		err = errNotHeld
	}
	return err
}
