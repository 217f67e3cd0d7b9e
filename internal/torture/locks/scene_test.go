package locks

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// TestTheirStoreIsTortured: what somebody else runs is what is tortured, and by the ways that it has.
func TestTheirStoreIsTortured(t *testing.T) {
	for url, want := range map[string]scene{
		"mem:":              {libraries: []string{viaGoRedis, viaGoRedis, viaGoRedis}},
		"redis://h":         {addr: "h:6379", libraries: []string{viaGoRedis, viaRueidis}},
		"rediss://h":        {libraries: []string{viaGoRedis}},
		"redis-cluster://h": {libraries: []string{viaGoRedis, viaRueidis}},
		"http://h:7700":     {addr: "h:7700", libraries: []string{viaServer}},
		"etcd://h":          {addr: "h:2379", settings: settings{Slack: etcdSlack}},
		"etcd://a,b:2":      {settings: settings{Slack: etcdSlack}},
		"zk://h:1/app": {
			addr: "h:1", url: "zk://h:1/app?session=45s", settings: settings{AfterDeath: 47 * time.Second},
		},
		"postgres://u:p@h/d":                 {addr: "h:5432", burden: 4, settings: settings{Transactional: true}},
		"postgres://h/d?sslmode=verify-full": {burden: 4, settings: settings{Transactional: true}},
		"mysql://h:33/d?tls=true":            {burden: 4, settings: settings{Transactional: true}},
		"mysql://h:33/d":                     {addr: "h:33", burden: 4, settings: settings{Transactional: true}},
		"sqlite:locks.db":                    {settings: settings{Transactional: true}},
	} {
		got, err := (&Plan{Backend: url}).build(context.Background(), stage.NewHost(t.TempDir()))
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if want.url == "" {
			want.url = url
		}
		want.front, want.Name, want.burden = want.url, got.Name, max(want.burden, 1)
		if want.libraries == nil {
			want.libraries = []string{viaURL, viaURL}
		}
		if diff := cmp.Diff(&want, got, cmp.AllowUnexported(scene{})); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
	}
	for url, want := range map[string]string{
		"etcd://h?profile=compatible": "leave the profile out", "zk://h?session=10s": "leave the session out",
	} {
		_, err := (&Plan{Backend: url}).build(context.Background(), stage.NewHost(t.TempDir()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
