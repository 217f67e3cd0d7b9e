package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Grant writes a grant.
func Grant(g driver.Grant) *bedrockv1.Grant {
	return &bedrockv1.Grant{
		Name: g.Name, Owner: g.Owner, Token: g.Token, Tokens: uint32(g.Tokens), Ttl: durationpb.New(g.TTL),
	}
}

// GrantOf reads a grant.
func GrantOf(m *bedrockv1.Grant) driver.Grant {
	return driver.Grant{
		Name: m.GetName(), Owner: m.GetOwner(), Mode: driver.Exclusive, TTL: m.GetTtl().AsDuration(),
		Token: m.GetToken(), Tokens: int(m.GetTokens()),
	}
}

// Lock writes the description of a lock.
func Lock(i driver.Info) *bedrockv1.Lock {
	return &bedrockv1.Lock{
		Name: i.Name, Owner: i.Owner, Token: i.Token, Since: Timestamp(i.Since), Ttl: duration(i.TTL),
		Meta: i.Meta, Waiting: uint32(max(i.Waiting, 0)),
	}
}

// LockOf reads the description of a lock.
func LockOf(m *bedrockv1.Lock) driver.Info {
	return driver.Info{
		Name: m.GetName(), Owner: m.GetOwner(), Token: m.GetToken(), Since: Time(m.GetSince()), TTL: m.GetTtl().AsDuration(),
		Meta: m.GetMeta(), Waiting: int(m.GetWaiting()),
	}
}

// Finding writes a finding.
func Finding(f driver.Finding) *bedrockv1.Finding {
	return &bedrockv1.Finding{Level: f.Level.String(), What: f.What, Means: f.Means}
}

// FindingOf reads a finding. A level it does not know is the worst.
func FindingOf(m *bedrockv1.Finding) driver.Finding {
	f := driver.Finding{Level: driver.OK, What: m.GetWhat(), Means: m.GetMeans()}
	for f.Level < driver.Danger && f.Level.String() != m.GetLevel() {
		f.Level++
	}
	return f
}
