package redisurl

import (
	"crypto/tls"

	"github.com/redis/go-redis/v9"
)

// ClientOptions are those of a go-redis client. It reads the certificates that the URL
// names, and connects to nothing.
func (l *Location) ClientOptions() (*redis.UniversalOptions, error) {
	var encryption *tls.Config
	if l.TLS.On {
		var err error
		if encryption, err = l.TLS.config(); err != nil {
			return nil, err
		}
	}
	return &redis.UniversalOptions{
		Addrs:            l.Addrs,
		ClientName:       "bedrock",
		DB:               l.DB,
		Username:         l.Username,
		Password:         l.Password,
		MasterName:       l.Master,
		SentinelUsername: l.SentinelUsername,
		SentinelPassword: l.SentinelPassword,
		IsClusterMode:    l.Kind == Cluster,
		TLSConfig:        encryption,
	}, nil
}
