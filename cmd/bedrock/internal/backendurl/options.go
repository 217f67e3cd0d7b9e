package backendurl

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// Options are what the query of a URL can set; zero is the default of each.
type Options struct {
	// TTL is the lease length.
	TTL time.Duration
	// Profile, PubSub, Acks, AckTimeout and TokenTTL are those of
	// [redislock.Options].
	Profile    redislock.Profile
	PubSub     redislock.PubSub
	Acks       redislock.Acks
	AckTimeout time.Duration
	TokenTTL   time.Duration
	// TLS configures encryption.
	TLS TLS
	// SentinelUsername and SentinelPassword are those of the Sentinels.
	SentinelUsername string
	SentinelPassword string
}

// OfLocks tells whether an option is set that is about locks rather than about how
// the servers are reached.
func (o Options) OfLocks() bool {
	o.TLS, o.SentinelUsername, o.SentinelPassword = TLS{}, "", ""
	return o != Options{}
}

// TLS says how to encrypt and whom to trust.
type TLS struct {
	// On switches it on where the scheme does not.
	On bool
	// CA, Cert and Key are PEM files: whom to trust instead of the system's
	// authorities, and the client's own certificate.
	CA, Cert, Key string
	// ServerName is expected in the server's certificate instead of the host.
	ServerName string
	// InsecureSkipVerify trusts any server.
	InsecureSkipVerify bool
}

// option reads one key of the query. Its error completes a sentence that begins
// with the option's name.
type option struct {
	kinds []Kind // the schemes that take it
	set   func(o *Options, value string) (problem string)
}

// options are all keys of the query.
func options() map[string]option {
	redis := []Kind{Redis, RedisTLS, Sentinel, Cluster}
	tls := []Kind{RedisTLS, Sentinel, Cluster}
	text := func(field func(*Options) *string) func(*Options, string) string {
		return func(o *Options, v string) string { *field(o) = v; return "" }
	}
	return map[string]option{
		"ttl":                  {redis, setTTL},
		"profile":              {redis, setProfile},
		"pubsub":               {redis, setPubSub},
		"acks":                 {redis, setAcks},
		"ack-timeout":          {redis, setAckTimeout},
		"token-ttl":            {redis, setTokenTTL},
		"tls":                  {[]Kind{Sentinel, Cluster}, setBool(func(o *Options) *bool { return &o.TLS.On })},
		"ca":                   {tls, text(func(o *Options) *string { return &o.TLS.CA })},
		"cert":                 {tls, text(func(o *Options) *string { return &o.TLS.Cert })},
		"key":                  {tls, text(func(o *Options) *string { return &o.TLS.Key })},
		"server-name":          {tls, text(func(o *Options) *string { return &o.TLS.ServerName })},
		"insecure-skip-verify": {tls, setBool(func(o *Options) *bool { return &o.TLS.InsecureSkipVerify })},
		"sentinel-username":    {[]Kind{Sentinel}, text(func(o *Options) *string { return &o.SentinelUsername })},
		"sentinel-password":    {[]Kind{Sentinel}, text(func(o *Options) *string { return &o.SentinelPassword })},
	}
}

func parseOptions(kind Kind, query string) (Options, error) {
	o := Options{TLS: TLS{On: kind == RedisTLS}}
	known, seen := options(), map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, raw, _ := strings.Cut(pair, "=")
		spec, ok := known[key]
		if !ok || !slices.Contains(spec.kinds, kind) {
			return o, wrong("query", "has an option that %s:// does not take; it takes %s", kind, strings.Join(namesFor(kind), ", "))
		}
		value, err := url.QueryUnescape(raw)
		if err != nil || seen[key] {
			return o, wrong("option "+key, "is given twice, or not percent-encoded correctly")
		}
		seen[key] = true
		if problem := spec.set(&o, value); problem != "" {
			return o, wrong("option "+key, "%s", problem)
		}
	}
	return o, o.TLS.validate()
}

func namesFor(kind Kind) []string {
	var names []string
	for name, spec := range options() {
		if slices.Contains(spec.kinds, kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *TLS) validate() error {
	switch {
	case !t.On && *t != (TLS{}):
		return wrong("option ca, cert, key, server-name or insecure-skip-verify", "needs tls=true")
	case (t.Cert == "") != (t.Key == ""):
		return wrong("options cert and key", "belong together: one is missing")
	}
	return nil
}

func setTTL(o *Options, v string) string {
	d, err := time.ParseDuration(v)
	if err != nil || d < lock.MinTTL || d > lock.MaxTTL {
		return "is not a duration from 10ms to 24h"
	}
	o.TTL = d
	return ""
}

func setProfile(o *Options, v string) string {
	switch v {
	case "redisson":
		o.Profile = redislock.Redisson
	case "redlock":
		o.Profile = redislock.Redlock
	default:
		return "is neither redisson nor redlock"
	}
	return ""
}

func setPubSub(o *Options, v string) string {
	switch v {
	case "auto":
		o.PubSub = redislock.PubSubAuto
	case "classic":
		o.PubSub = redislock.PubSubClassic
	case "sharded":
		o.PubSub = redislock.PubSubSharded
	default:
		return "is none of auto, classic, sharded"
	}
	return ""
}

func setAcks(o *Options, v string) string {
	switch v {
	case "majority":
		o.Acks = redislock.AckMajority
		return ""
	case "all":
		o.Acks = redislock.AckAll
		return ""
	}
	n, err := strconv.ParseUint(v, 10, 8)
	if err != nil {
		return "is none of majority, all, 0 to 255"
	}
	o.Acks = redislock.Acks(n)
	return ""
}

func setAckTimeout(o *Options, v string) string {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Millisecond || d > lock.MaxTTL {
		return "is not a duration from 1ms to 24h"
	}
	o.AckTimeout = d
	return ""
}

func setTokenTTL(o *Options, v string) string {
	if v == "-1" {
		o.TokenTTL = -1
		return ""
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Millisecond {
		return "is neither -1 (for ever) nor a duration of 1ms or more"
	}
	o.TokenTTL = d
	return ""
}

func setBool(field func(*Options) *bool) func(*Options, string) string {
	return func(o *Options, v string) string {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "is neither true nor false"
		}
		*field(o) = b
		return ""
	}
}
