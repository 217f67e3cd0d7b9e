package lockurl

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// etcd is a place in etcd.
type etcd struct {
	serverurl.Location

	options    etcdlock.Options
	encryption *tls.Config // once the files are read
}

func parseEtcd(text string) (*Location, error) {
	e := &etcd{}
	l := &Location{place: e}
	location, err := serverurl.Parse(text, map[string]serverurl.Setter{
		"ttl": l.setTTL,
		"profile": func(v string) string {
			return setChoice(&e.options.Profile, v, []named[etcdlock.Profile]{
				{"own", etcdlock.Own}, {"compatible", etcdlock.Compatible}, {"elections", etcdlock.Elections},
			})
		},
		"prefix": func(v string) string {
			e.options.Prefix = v
			return ""
		},
	})
	if err != nil {
		return nil, err
	}
	e.Location = *location
	return l, nil
}

// TLS implements place.
func (e *etcd) TLS() bool { return e.Location.TLS.On }

func (e *etcd) readFiles() (err error) {
	e.encryption, err = e.Location.TLS.Config()
	return err
}

// How long connecting may take once, and what a client does about a connection that has died.
const (
	connectLimit     = 10 * time.Second
	keepAlive        = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
)

func (e *etcd) connect(opts lock.Options, _ use) (driver.Backend, func() error, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: e.Addrs, TLS: e.encryption, Username: e.Username, Password: e.Password,
		DialTimeout: connectLimit, DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		Logger: zap.NewNop(), // what it would log is returned as well
	})
	if err != nil {
		return nil, nil, err
	}
	o := e.options
	o.Lock = opts
	backend, err := etcdlock.NewBackend(client, &o)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return backend, client.Close, nil
}

// onlyServer implements reachable.
func (e *etcd) onlyServer() string { return onlyOne(e.Addrs, e.TLS()) }

// standsAlone implements single.
func (e *etcd) standsAlone() string { return agreed }

// agreed says of a store that several are one already.
const agreed = "whose servers agree by themselves: its locks are no part of others"

// meets implements place.
func (e *etcd) meets(other place) string {
	o, ok := other.(*etcd)
	if !ok {
		return ""
	}
	return commonAddress(e.Addrs, o.Addrs)
}

// onlyOne is the one server, if there is one, and if its name is nothing that it has to prove.
func onlyOne(addrs []string, tls bool) string {
	if len(addrs) != 1 || tls {
		return ""
	}
	return addrs[0]
}

// commonAddress returns one that is in both lists.
func commonAddress(some, others []string) string {
	for _, addr := range some {
		if slices.ContainsFunc(others, func(a string) bool { return strings.EqualFold(a, addr) }) {
			return addr
		}
	}
	return ""
}
