package serverurl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]*Location{
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
			Kind: RedisTLS, Addrs: []string{"h:6379"}, TLS: TLS{On: true, CA: "/ca.pem", ServerName: "r"},
		},
		"redis-sentinel://a,b:2,[::1]:3/main/4?sentinel-password=s": {
			Kind: Sentinel, Addrs: []string{"a:26379", "b:2", "[::1]:3"}, Master: "main", DB: 4,
			SentinelPassword: "s",
		},
		"redis-cluster://a:1,b:2?tls=true&insecure-skip-verify=true": {
			Kind: Cluster, Addrs: []string{"a:1", "b:2"}, TLS: TLS{On: true, InsecureSkipVerify: true},
		},
		"etcd://a,b:1?tls=true&ca=c": {
			Kind: Etcd, Addrs: []string{"a:2379", "b:1"}, TLS: TLS{On: true, CA: "c"},
		},
		"zk://u:p@a,[::1]:1/locks/x%20y/": {
			Kind: ZooKeeper, Addrs: []string{"a:2181", "[::1]:1"}, Username: "u", Password: "p", Path: "locks/x y",
		},
	} {
		got, err := Parse(url, nil)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
	}
}

// TestEveryKindIsListedForPeople, in the order of all kinds, and none else.
func TestEveryKindIsListedForPeople(t *testing.T) {
	var listed []string
	for _, kind := range Kinds() {
		listed = append(listed, string(kind)+"://")
		if !kind.Known() {
			t.Errorf("%s is not known", kind)
		}
	}
	if want := strings.Join(listed, ", "); Schemes != want {
		t.Errorf("people are told of %s, there are %s", Schemes, want)
	}
}

func TestHint(t *testing.T) {
	for scheme, want := range map[string]string{
		"redsi": " (did you mean redis?)", "redis-clustr": " (did you mean redis-cluster?)",
		"sqllite": " (did you mean sqlite?)", "ftp": "",
	} {
		if got := Hint(scheme, RedisKinds(), "mem", "sqlite"); got != want {
			t.Errorf("%s: got %q, want %q", scheme, got, want)
		}
	}
}

// TestFurtherOptionsAreKept: they are not about how a Redis is reached.
func TestFurtherOptionsAreKept(t *testing.T) {
	var told []string
	set := func(name string) Setter {
		return func(value string) string {
			told = append(told, name+" "+value)
			return map[string]string{"0": "is not a duration"}[value]
		}
	}
	further := map[string]Setter{"ttl": set("ttl"), "acks": set("acks")}
	got, err := Parse("redis://h?ttl=5s&acks=a%26b", further)
	if diff := cmp.Diff(&Location{Kind: Redis, Addrs: []string{"h:6379"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"ttl 5s", "acks a&b"}, told); diff != "" {
		t.Error(diff)
	}
	for url, want := range map[string]string{
		"redis://h?ttl=0":            "option ttl is not a duration",
		"redis://h?ca=x":             "option ca is not known; redis:// takes acks, ttl here",
		"redis://h?a/b=x":            "query has an option that is not known; redis:// takes acks, ttl here",
		"redis://u:a?hunter2@h":      "password or option has a ? or @",
		"redis-sentinel://h/m?pool=": "redis-sentinel:// takes acks, ca, cert, ",
		"redis://h?tttl=1s":          "option tttl is not known (did you mean ttl?); redis:// takes acks, ttl here",
	} {
		if _, err := Parse(url, further); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"":                                    "scheme is none of redis://",
		"localhost:6379":                      "scheme is none of redis://",
		"mysql://h":                           "scheme is none of redis://",
		"redis://":                            "host is missing",
		"redis://u:p@":                        "host is missing",
		"redis://:6379":                       "host is missing",
		"redis://h:0":                         "port is not a number from 1 to 65535",
		"redis://h:":                          "port is not a number",
		"redis://h:65536":                     "port is not a number",
		"redis://h:x":                         "port is not a number",
		"redis://::1":                         "host has a character that no host name has",
		"redis://[::1":                        "host",
		"redis://[nonsense]:1":                "host is not an IPv6 address",
		"redis://a b":                         "host has a character",
		"redis://a,b":                         "host is a list",
		"redis://h/x":                         "database is not a number from 0 to 65535",
		"redis://h/1/2":                       "database is not a number",
		"redis://u:%zz@h":                     "password is not percent-encoded",
		"redis://%zz:p@h":                     "user name is not percent-encoded",
		"redis://u@h":                         "password is missing",
		"redis-cluster://u:@h":                "password is missing",
		"redis://u:a#b@h":                     "%23",
		"redis://u:a?b@h":                     "%3F",
		"redis://h?nonsense=1":                "option nonsense is not known; redis:// takes none here",
		"redis-cluster://h?tls=true&tls=true": "option tls is given twice",
		"rediss://h?cert=x":                   "options cert and key belong together",
		"rediss://h?tls=true":                 "option tls is not known; rediss:// takes ",
		"redis-cluster://h?ca=x":              "needs tls=true",
		"redis-cluster://h?tls=maybe":         "option tls is neither true nor false",
		"redis-cluster://h/1":                 "path is not allowed",
		"redis-cluster://a,":                  "host is missing",
		"redis-sentinel://h":                  "master name is missing",
		"redis-sentinel://h/%zz":              "master name",
		"redis-sentinel://h/main/x":           "database is not a number",
		"redis://h?sentinel-password=x":       "option sentinel-password is not known",
		"etcd://h/x":                          "path is not allowed",
		"etcd://u@h":                          "password is missing",
		"zk://h?ca=x":                         "needs tls=true",
		"zk://h/%zz":                          "path is not percent-encoded",
		"redis-sentinel://h/m?sentinel-username=u": "option sentinel-password is missing",
	} {
		if _, err := Parse(url, nil); err == nil || !strings.Contains(err.Error(), want) {
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
		if strings.Contains(scheme+user+rest, secret) || strings.ContainsAny(user, "/,?#@") ||
			strings.Contains(scheme, "://") {
			return // then it may be anywhere
		}
		location, err := Parse(scheme+"://"+user+":"+secret+rest, nil)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the password: %v", err)
			}
			return
		}
		if strings.Contains(rest, "@") && strings.Contains(location.String(), secret) {
			t.Errorf("the location's text tells the password: %s", location)
		}
		if len(location.Addrs) == 0 {
			t.Errorf("no address: %+v", location)
		}
	})
}
