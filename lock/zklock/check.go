package zklock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// configPath is where an ensemble says who is in it.
const configPath = "/zookeeper/config"

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	findings, err := inSession(ctx, b, func() ([]driver.Finding, error) {
		data, _, err := b.conn.library().Get(configPath)
		if err != nil && !errors.Is(err, zk.ErrNoNode) && !errors.Is(err, zk.ErrNoAuth) {
			return nil, err
		}
		findings := []driver.Finding{describeEnsemble(string(data), err), b.describeSession()}
		lacks, err := b.checkRights()
		findings = append(findings, lacks...)
		slices.SortStableFunc(findings, func(x, y driver.Finding) int { return cmp.Compare(y.Level, x.Level) })
		return findings, err
	})
	return findings, describe("examine", b.layout.base, err)
}

// votersIn is how many voting servers an ensemble has; 0 for one that is none.
func votersIn(config string) int { return strings.Count(config, ":participant") }

// describeEnsemble says what it means how many servers there are.
func describeEnsemble(config string, err error) driver.Finding {
	voters := votersIn(config)
	switch {
	case err != nil:
		return driver.Finding{
			Level: driver.Notice, What: "the servers do not say how many they are",
			Means: "a server that stands alone is a lock service that ends with it",
		}
	case voters < 2:
		return driver.Finding{
			Level: driver.Notice, What: "there is one server",
			Means: "while it is away nobody gets a lock, and leases end; three servers bear the loss of one",
		}
	case voters%2 == 0:
		return driver.Finding{
			Level: driver.Notice, What: fmt.Sprintf("there are %d voting servers", voters),
			Means: fmt.Sprintf("they bear the loss of %d, as %d would", (voters-1)/2, voters-1),
		}
	}
	return driver.Finding{
		Level: driver.OK, What: fmt.Sprintf("there are %d voting servers", voters),
		Means: fmt.Sprintf("they bear the loss of %d", (voters-1)/2),
	}
}

// describeSession says what the session means.
func (b *backend) describeSession() driver.Finding {
	lasts := b.conn.lasts()
	f := driver.Finding{
		Level: driver.OK, What: fmt.Sprintf("the session lasts %s", lasts),
		Means: fmt.Sprintf("leases may live for %s, and the locks of a client that has died are free after %s",
			longestLease(lasts), lasts),
	}
	if b.opts.Lock.TTL > longestLease(lasts) {
		return b.describeShortSession(lasts)
	}
	if lasts < b.opts.Session {
		f.Level = driver.Notice
		f.What += fmt.Sprintf(", %s was asked for", b.opts.Session)
		f.Means += "; maxSessionTimeout of the servers allows no more"
	} else if lasts > b.opts.Session {
		f.Level = driver.Notice
		f.What += fmt.Sprintf(", %s was asked for", b.opts.Session)
		f.Means += "; minSessionTimeout of the servers allows no less"
	}
	return f
}

// describeShortSession says that leases are refused which are as long as usual here.
func (b *backend) describeShortSession(lasts time.Duration) driver.Finding {
	ttl := b.opts.Lock.TTL
	longer := fmt.Sprintf("ask for a session of %s", wholeMilliseconds(sessionFor(ttl)))
	f := driver.Finding{Level: driver.Danger, What: fmt.Sprintf("the session lasts %s", lasts)}
	if lasts < b.opts.Session {
		f.What += fmt.Sprintf(", %s was asked for", b.opts.Session)
		longer = fmt.Sprintf("set maxSessionTimeout of the servers to %d, which is 20 times tickTime unless it is set",
			wholeMilliseconds(sessionFor(ttl)).Milliseconds())
	}
	f.Means = fmt.Sprintf("leases may live for %s, and those of %s, as they are asked for here, are refused: "+
		"ask for %[1]s (ttl), or %[3]s", longestLease(lasts), ttl, longer)
	return f
}
