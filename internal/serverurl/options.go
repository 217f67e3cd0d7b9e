package serverurl

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

// option is one key of the query.
type option struct {
	kinds []Kind // the schemes that take it
	set   func(l *Location, value string) (problem string)
}

// Setter reads the value of an option. A problem completes a sentence that begins with the
// option's name.
type Setter func(value string) (problem string)

// options are the keys of the query that say how servers are reached.
func options() map[string]option {
	switched := []Kind{Sentinel, Cluster, Etcd, ZooKeeper}
	tls := append([]Kind{RedisTLS}, switched...)
	text := func(field func(*Location) *string) func(*Location, string) string {
		return func(l *Location, v string) string { *field(l) = v; return "" }
	}
	return map[string]option{
		"tls":                  {switched, setBool(func(l *Location) *bool { return &l.TLS.On })},
		"ca":                   {tls, text(func(l *Location) *string { return &l.TLS.CA })},
		"cert":                 {tls, text(func(l *Location) *string { return &l.TLS.Cert })},
		"key":                  {tls, text(func(l *Location) *string { return &l.TLS.Key })},
		"server-name":          {tls, text(func(l *Location) *string { return &l.TLS.ServerName })},
		"insecure-skip-verify": {tls, setBool(func(l *Location) *bool { return &l.TLS.InsecureSkipVerify })},
		"sentinel-username":    {[]Kind{Sentinel}, text(func(l *Location) *string { return &l.SentinelUsername })},
		"sentinel-password":    {[]Kind{Sentinel}, text(func(l *Location) *string { return &l.SentinelPassword })},
	}
}

// parseOptions reads the query: options of the connection, and further ones, which any Redis
// takes.
func (l *Location) parseOptions(query string, further map[string]Setter) error {
	l.TLS.On = l.Kind == RedisTLS
	known, seen := l.setters(further), map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, raw, _ := strings.Cut(pair, "=")
		set, ok := known[key]
		if !ok {
			return l.unknownOption(key, known)
		}
		value, err := url.QueryUnescape(raw)
		if err != nil || seen[key] {
			return wrong("option "+key, "is given twice, or not percent-encoded correctly")
		}
		seen[key] = true
		if problem := set(value); problem != "" {
			return wrong("option "+key, "%s", problem)
		}
	}
	if l.SentinelUsername != "" && l.SentinelPassword == "" {
		return wrong("option sentinel-password", "is missing: sentinel-username is used only with one")
	}
	return l.TLS.validate()
}

// setters are the options that the location's scheme takes, and the further ones.
func (l *Location) setters(further map[string]Setter) map[string]Setter {
	known := map[string]Setter{}
	maps.Copy(known, further)
	for name, spec := range options() {
		if slices.Contains(spec.kinds, l.Kind) {
			known[name] = func(value string) string { return spec.set(l, value) }
		}
	}
	return known
}

// unknownOption repeats an option only if it is a plain word. It is not the rest of a password with a question mark: a
// host would come after it, behind an @, which is refused before.
func (l *Location) unknownOption(key string, known map[string]Setter) error {
	names := slices.Sorted(maps.Keys(known))
	takes := "takes none here"
	if len(names) > 0 {
		takes = "takes " + strings.Join(names, ", ") + " here"
	}
	if near := nearest.To(key, names); near != "" {
		return wrong("option "+key, "is not known (did you mean %s?); %s:// %s", near, l.Kind, takes)
	}
	if isWord(key) {
		return wrong("option "+key, "is not known; %s:// %s", l.Kind, takes)
	}
	return wrong("query", "has an option that is not known; %s:// %s", l.Kind, takes)
}

// longestWord is how much of an option is repeated at most.
const longestWord = 40

func isWord(key string) bool {
	strange := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	return key != "" && len(key) <= longestWord && !strings.ContainsFunc(key, strange)
}

func setBool(field func(*Location) *bool) func(*Location, string) string {
	return func(l *Location, v string) string {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "is neither true nor false"
		}
		*field(l) = b
		return ""
	}
}
