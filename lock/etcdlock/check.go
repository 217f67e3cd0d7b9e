package etcdlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Identity implements [driver.Identifier].
func (b *backend) Identity(ctx context.Context) (string, error) {
	resp, err := b.client.Get(clientv3.WithRequireLeader(ctx), b.layout.prefix+"bedrock", clientv3.WithCountOnly())
	if err != nil {
		return "", describe("identify", "etcd", err)
	}
	return driver.IdentityIn(fmt.Sprintf("etcd %x", resp.Header.ClusterId), b.layout.prefix), nil
}

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	members, err := b.client.MemberList(ctx)
	if err != nil {
		return nil, describe("check", "etcd", err)
	}
	findings := []driver.Finding{checkMembers(members.Members)}
	findings = append(findings, b.checkAlarms(ctx)...)
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
