package lockurl

import (
	"crypto/tls"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// zooKeeper is a place in an ensemble of ZooKeeper.
type zooKeeper struct {
	serverurl.Location

	options    zklock.Options
	encryption *tls.Config // once the files are read
}

func parseZooKeeper(text string) (*Location, error) {
	z := &zooKeeper{}
	l := &Location{place: z}
	location, err := serverurl.Parse(text, map[string]serverurl.Setter{
		"ttl":     l.setTTL,
		"profile": z.setProfile,
		"session": func(v string) string {
			return setDuration(&z.options.Session, v, zklock.MinSession, zklock.MaxSession)
		},
	})
	if err != nil {
		return nil, err
	}
	z.Location = *location
	z.options.Username, z.options.Password = z.Username, z.Password
	if z.Path != "" {
		z.options.Root = "/" + z.Path
	}
	return l, nil
}

func (z *zooKeeper) setProfile(v string) string {
	return setChoice(&z.options.Profile, v, []named[zklock.Profile]{
		{"escaped", zklock.Escaped}, {"curator", zklock.Curator}, {"curator-latch", zklock.CuratorLatch},
	})
}

// TLS implements place.
func (z *zooKeeper) TLS() bool { return z.Location.TLS.On }

func (z *zooKeeper) readFiles() (err error) {
	z.encryption, err = z.Location.TLS.Config()
	return err
}

// connect implements place. The session begins when a server answers.
func (z *zooKeeper) connect(opts lock.Options, _ use) (driver.Backend, func() error, error) {
	o := z.options
	o.Lock, o.TLS = opts, z.encryption
	backend, err := zklock.OpenBackend(z.Addrs, &o)
	return backend, func() error { return nil }, err
}

// lends implements personal: the nodes of locks go with the session of whoever made them, and no other can renew them.
func (z *zooKeeper) lends() error {
	return &Error{
		Part: "scheme zk", Problem: "is for programs that have their locks themselves: those of a server would end " +
			"with its session to ZooKeeper, while its clients have them",
	}
}

// onlyServer implements reachable.
func (z *zooKeeper) onlyServer() string { return onlyOne(z.Addrs, z.TLS()) }

// standsAlone implements single.
func (z *zooKeeper) standsAlone() string { return agreed }

// meets implements place.
func (z *zooKeeper) meets(other place) string {
	o, ok := other.(*zooKeeper)
	if !ok {
		return ""
	}
	return commonAddress(z.Addrs, o.Addrs)
}
