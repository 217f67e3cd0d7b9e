package serverurl

import "github.com/redis/go-redis/v9"

// RedisOptions are those of a go-redis client. It reads the certificates that the URL
// names, and connects to nothing.
func (l *Location) RedisOptions() (*redis.UniversalOptions, error) {
	encryption, err := l.TLS.Config()
	if err != nil {
		return nil, err
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
