package backendurl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/lock/redislock"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]*Location{
		"mem:":            {Kind: Memory},
		"mem://":          {Kind: Memory},
		"redis://h":       {Kind: Redis, Addrs: []string{"h:6379"}},
		"redis://h:1/":    {Kind: Redis, Addrs: []string{"h:1"}},
		"redis://h:1/15":  {Kind: Redis, Addrs: []string{"h:1"}, DB: 15},
		"redis://[::1]:9": {Kind: Redis, Addrs: []string{"[::1]:9"}},
		"redis://[::1]":   {Kind: Redis, Addrs: []string{"[::1]:6379"}},
		"redis://:p@h":    {Kind: Redis, Addrs: []string{"h:6379"}, Password: "p"},
		"redis://u:p@h":   {Kind: Redis, Addrs: []string{"h:6379"}, Username: "u", Password: "p"},
		// Passwords may be encoded, or hold / : @ as they are.
		"redis://u:a%2Fb%40c%3F%23@h": {Kind: Redis, Addrs: []string{"h:6379"}, Username: "u", Password: "a/b@c?#"},
		"redis://u:a/b:c@d@h:1/2":     {Kind: Redis, Addrs: []string{"h:1"}, DB: 2, Username: "u", Password: "a/b:c@d"},
		"rediss://h?ca=%2Fca.pem&server-name=r": {
			Kind: RedisTLS, Addrs: []string{"h:6379"},
			Options: Options{TLS: TLS{On: true, CA: "/ca.pem", ServerName: "r"}},
		},
		"redis-sentinel://a,b:2,[::1]:3/main/4?sentinel-password=s": {
			Kind: Sentinel, Addrs: []string{"a:26379", "b:2", "[::1]:3"}, Master: "main", DB: 4,
			Options: Options{SentinelPassword: "s"},
		},
		"redis-cluster://a:1,b:2?tls=true&insecure-skip-verify=true": {
			Kind: Cluster, Addrs: []string{"a:1", "b:2"}, Options: Options{TLS: TLS{On: true, InsecureSkipVerify: true}},
		},
		"redis://h?ttl=5s&acks=majority&ack-timeout=2s&token-ttl=-1&profile=redlock&pubsub=classic": {
			Kind: Redis, Addrs: []string{"h:6379"}, Options: Options{
				TTL: 5 * time.Second, Acks: redislock.AckMajority, AckTimeout: 2 * time.Second, TokenTTL: -1,
				Profile: redislock.Redlock, PubSub: redislock.PubSubClassic,
			},
		},
		"redis://h?acks=2": {Kind: Redis, Addrs: []string{"h:6379"}, Options: Options{Acks: 2}},
	} {
		got, err := Parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"":                              "scheme is missing",
		"localhost:6379":                "scheme is missing",
		"mysql://h":                     "scheme is not known; there are mem:, redis://",
		"mem:x":                         "scheme mem takes nothing after it",
		"redis://":                      "host is missing",
		"redis://u:p@":                  "host is missing",
		"redis://:6379":                 "host is missing",
		"redis://h:0":                   "port is not a number from 1 to 65535",
		"redis://h:":                    "port is not a number",
		"redis://h:65536":               "port is not a number",
		"redis://h:x":                   "port is not a number",
		"redis://::1":                   "host has a character that no host name has",
		"redis://[::1":                  "host",
		"redis://[nonsense]:1":          "host is not an IPv6 address",
		"redis://a b":                   "host has a character",
		"redis://a,b":                   "host is a list",
		"redis://h/x":                   "database is not a number from 0 to 65535",
		"redis://h/1/2":                 "database is not a number",
		"redis://u:%zz@h":               "password is not percent-encoded",
		"redis://%zz:p@h":               "user name is not percent-encoded",
		"redis://u:a#b@h":               "%23",
		"redis://u:a?b@h":               "%3F",
		"redis://h?nonsense=1":          "query has an option that redis:// does not take; it takes ack-timeout, acks, ",
		"redis://h?ca=x":                "query has an option that redis:// does not take",
		"redis://h?ttl=1s&ttl=2s":       "option ttl is given twice",
		"redis://h?ttl=1ms":             "option ttl is not a duration from 10ms to 24h",
		"redis://h?ttl=30":              "option ttl is not a duration",
		"redis://h?acks=some":           "option acks is none of majority, all, 0 to 255",
		"redis://h?acks=-1":             "option acks",
		"redis://h?ack-timeout=0s":      "option ack-timeout",
		"redis://h?ack-timeout=25h":     "option ack-timeout is not a duration from 1ms to 24h",
		"redis://h?token-ttl=0":         "option token-ttl",
		"redis://h?profile=other":       "option profile is neither redisson nor redlock",
		"redis://h?pubsub=other":        "option pubsub",
		"rediss://h?cert=x":             "options cert and key belong together",
		"rediss://h?tls=true":           "query has an option that rediss:// does not take",
		"redis-cluster://h?ca=x":        "needs tls=true",
		"redis-cluster://h?tls=maybe":   "option tls is neither true nor false",
		"redis-cluster://h/1":           "path is not allowed",
		"redis-cluster://a,":            "host is missing",
		"redis-sentinel://h":            "master name is missing",
		"redis-sentinel://h/%zz":        "master name",
		"redis-sentinel://h/main/x":     "database is not a number",
		"redis://h?sentinel-password=x": "query has an option",
	} {
		if _, err := Parse(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

// The password must not come out of Parse other than in Location.Password,
// however wrong the rest of the URL is.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"@h:1/2?ttl=1s", "@h,b:x", "@", "@h/x", "@h?a=b", "/x@h", ":x@h:z", "#@h", "?x@h", "@[::1]:5/main",
	} {
		for _, kind := range []string{"redis", "rediss", "redis-sentinel", "redis-cluster", "nonsense"} {
			f.Add(kind, "user", seed)
		}
	}
	const secret = "Zw9qX7"
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		if strings.Contains(scheme+user+rest, secret) || strings.ContainsAny(user, "/,?#@") || strings.Contains(scheme, "://") {
			return // then it may be anywhere
		}
		location, err := Parse(scheme + "://" + user + ":" + secret + rest)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the password: %v", err)
			}
			return
		}
		if strings.Contains(rest, "@") && strings.Contains(location.String(), secret) {
			t.Errorf("the location's text tells the password: %s", location)
		}
		if location.Kind != Memory && len(location.Addrs) == 0 {
			t.Errorf("no address: %+v", location)
		}
	})
}
