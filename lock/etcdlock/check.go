package etcdlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Identity implements [driver.Identifier].
func (b *backend) Identity(ctx context.Context) (string, error) {
	resp, err := b.client.Get(clientv3.WithRequireLeader(ctx), b.layout.prefix+"bedrock", clientv3.WithCountOnly())
	if err != nil {
		return "", b.describeRead("identify", "etcd", err)
	}
	return driver.IdentityIn(fmt.Sprintf("etcd %x", resp.Header.ClusterId), b.layout.prefix), nil
}

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	members, err := b.client.MemberList(ctx)
	if err != nil {
		return nil, b.describeRead("check", "etcd", err)
	}
	findings := []driver.Finding{checkMembers(members.Members)}
	findings = append(findings, b.checkAlarms(ctx)...)
	findings = append(findings, b.checkWrites(ctx)...)
	findings = append(findings, b.checkShortest(ctx))
	slices.SortStableFunc(findings, func(x, y driver.Finding) int { return cmp.Compare(y.Level, x.Level) })
	return findings, nil
}

// checkMembers tells how many members the cluster has.
func checkMembers(members []*etcdserverpb.Member) driver.Finding {
	voters := 0
	for _, m := range members {
		if !m.IsLearner {
			voters++
		}
	}
	f := driver.Finding{Level: driver.OK, What: fmt.Sprintf("%d members", voters)}
	f.Means = fmt.Sprintf("locks go on while %d of them are there", voters/2+1)
	switch {
	case voters == 1:
		f.Level, f.What = driver.Notice, "one member"
		f.Means = "while it is down nobody gets a lock; if its data is lost, so are all locks, and tokens begin anew"
	case voters%2 == 0:
		f.Level = driver.Notice
	}
	return f
}

// checkAlarms tells what the members complain of.
func (b *backend) checkAlarms(ctx context.Context) (findings []driver.Finding) {
	alarms, err := b.client.AlarmList(ctx)
	if err != nil {
		return []driver.Finding{{
			Level: driver.Notice, What: "alarms cannot be read: " + err.Error(),
			Means: "nobody here knows whether the store is full",
		}}
	}
	for _, alarm := range alarms.Alarms {
		findings = append(findings, driver.Finding{
			Level: driver.Danger, What: fmt.Sprintf("alarm %s of member %x", alarm.Alarm, alarm.MemberID),
			Means: "no lock can be had until it is disarmed",
		})
	}
	return findings
}

// checkChild is what a key would be called behind the prefix that is never written. No name is escaped so.
const checkChild = "%check"

// checkWrites tells why locks cannot be written, by a transaction that does nothing: servers look whether the user may
// do what is in either branch before they choose one. With raw names nobody knows which keys there may be.
func (b *backend) checkWrites(ctx context.Context) []driver.Finding {
	all := b.layout.prefix
	if all == "" {
		return nil
	}
	never := clientv3.Compare(clientv3.Version(all), "<", 0).WithRange(endOf(all))
	_, err := b.commit(ctx, never, clientv3.OpPut(all+checkChild, ""))
	if err == nil {
		return nil
	}
	f := driver.Finding{Level: driver.Danger, What: "no lock can be written: " + err.Error()}
	f.Means = "nobody here gets one"
	if codeOf(err) == codes.PermissionDenied {
		f.What = fmt.Sprintf("the user may not read and write all keys that begin with %q: %v", all, err)
		f.Means = "it gets no lock, or is refused some"
	}
	return []driver.Finding{f}
}

// checkShortest tells how long the shortest lease is that there is.
func (b *backend) checkShortest(ctx context.Context) driver.Finding {
	l, err := b.leases.leaseFor(ctx, driver.MinTTL)
	if err != nil {
		return driver.Finding{Level: driver.Danger, What: "no lease: " + err.Error(), Means: "nobody here gets a lock"}
	}
	f := driver.Finding{Level: driver.OK, What: fmt.Sprintf("the shortest lease is %s", l.length)}
	f.Means = "the locks of a process that dies are free after that, or its TTL and a tenth, and a second"
	if seconds := leaseLength(driver.MinTTL); int64(l.length.Seconds()) > 2*seconds {
		f.Level = driver.Notice
		f.Means += "; an election may take as long as that, by the setting election-timeout"
	}
	return f
}
