package apiwire

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// modeVote is the mode of a request to one of several stores. To a server that has not heard of what is asked of
// those it is no mode, while it would ignore the fields.
const modeVote = "vote"

// Listening writes to which kind of lock somebody listens: a mode of it, or what has none.
func Listening(kind driver.Kind) string {
	if kind == driver.Latch {
		return kind.String()
	}
	return kind.Mode().String()
}

// ListeningOf reads to which kind of lock somebody listens.
func ListeningOf(text string) (driver.Kind, error) {
	if text == driver.Latch.String() {
		return driver.Latch, nil
	}
	mode, err := driver.ParseMode(text)
	return mode.Kind(), err
}

// Request writes a request for a lock.
func Request(r driver.Request) *bedrockv1.AcquireRequest {
	m := &bedrockv1.AcquireRequest{
		Name: r.Name, Owner: r.Owner, Mode: mode(r.Mode), Permits: count(r.Permits), Limit: count(r.Limit),
		Upgradeable: r.Upgradeable, Over: r.Over, Waits: r.Waits, Fair: r.Fair,
		Ttl: durationpb.New(r.TTL), Tokens: count(r.Tokens), Meta: r.Meta, Above: r.Above, Age: duration(r.Age),
	}
	if r.IsVote() && r.Mode == driver.Exclusive {
		m.Mode = modeVote
	}
	return m
}

// RequestOf reads a request for a lock. What was left out is zero.
func RequestOf(m *bedrockv1.AcquireRequest) (driver.Request, error) {
	var (
		mode driver.Mode // exclusive, as a vote is
		err  error
	)
	if m.GetMode() != modeVote {
		mode, err = driver.ParseMode(m.GetMode())
	}
	return driver.Request{
		Name: m.GetName(), Owner: m.GetOwner(), Mode: mode,
		Permits: int(m.GetPermits()), Limit: int(m.GetLimit()),
		Upgradeable: m.GetUpgradeable(), Over: m.GetOver(), Waits: m.GetWaits(), Fair: m.GetFair(),
		TTL: m.GetTtl().AsDuration(), Tokens: int(m.GetTokens()), Meta: m.GetMeta(),
		Above: m.GetAbove(), Age: m.GetAge().AsDuration(),
	}, err
}

// count fits a number into a message; whatever is larger is refused all the same.
func count(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// mode leaves out the mode that nearly all locks have.
func mode(m driver.Mode) string {
	if m == driver.Exclusive {
		return ""
	}
	return m.String()
}

// Grant writes a grant.
func Grant(g driver.Grant) *bedrockv1.Grant {
	return &bedrockv1.Grant{
		Name: g.Name, Owner: g.Owner, Mode: mode(g.Mode), Token: g.Token, Tokens: count(g.Tokens),
		Ttl: durationpb.New(g.TTL), Permits: count(g.Permits), Upgradeable: g.Upgradeable,
	}
}

// GrantOf reads a grant.
func GrantOf(m *bedrockv1.Grant) (driver.Grant, error) {
	mode, err := driver.ParseMode(m.GetMode())
	return driver.Grant{
		Name: m.GetName(), Owner: m.GetOwner(), Mode: mode, TTL: m.GetTtl().AsDuration(),
		Permits: int(m.GetPermits()), Upgradeable: m.GetUpgradeable(),
		Token: m.GetToken(), Tokens: int(m.GetTokens()),
	}, err
}

// Bundle writes a request for several locks in one step.
func Bundle(reqs []driver.Request) *bedrockv1.AcquireAllRequest {
	m := &bedrockv1.AcquireAllRequest{Requests: make([]*bedrockv1.AcquireRequest, len(reqs))}
	for i := range reqs {
		m.Requests[i] = Request(reqs[i])
	}
	return m
}

// Granted writes what was granted in one step.
func Granted(grants []driver.Grant) *bedrockv1.AcquireAllResponse {
	m := &bedrockv1.AcquireAllResponse{Grants: make([]*bedrockv1.Grant, len(grants))}
	for i := range grants {
		m.Grants[i] = Grant(grants[i])
	}
	return m
}

// GrantedOf reads what was granted to so many requests.
func GrantedOf(m *bedrockv1.AcquireAllResponse, requests int) ([]driver.Grant, error) {
	if n := len(m.GetGrants()); n != requests {
		return nil, fmt.Errorf("%d grants to %d requests", n, requests)
	}
	grants := make([]driver.Grant, requests)
	for i, g := range m.GetGrants() {
		var err error
		if grants[i], err = GrantOf(g); err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// Lock describes a lock to others than its owners, who are known by the keys to it.
func Lock(i driver.Info) *bedrockv1.Lock {
	m := &bedrockv1.Lock{Name: i.Name, Token: i.Token, Waiting: count(i.Waiting), Limit: count(i.Limit)}
	if len(i.Holders) > 0 {
		m.Kind = i.Kind.String()
	}
	for _, h := range i.Holders {
		m.Holders = append(m.Holders, &bedrockv1.Holder{
			Owner: driver.PublicOwner(h.Owner), Mode: h.Mode.String(), Permits: count(h.Permits),
			Since: Timestamp(h.Since), Ttl: timeLeft(h.TTL), Meta: driver.DecodeMeta(h.Meta),
			Linger: duration(h.Linger), Upgradeable: h.Upgradeable, Token: h.Token,
		})
	}
	for _, w := range i.Line {
		m.Line = append(m.Line, &bedrockv1.InLine{
			Owner: driver.PublicOwner(w.Owner), Since: Timestamp(w.Since), Meta: driver.DecodeMeta(w.Meta),
		})
	}
	return m
}

// LockOf reads the description of a lock.
func LockOf(m *bedrockv1.Lock) (driver.Info, error) {
	i := driver.Info{
		Name: m.GetName(), Token: m.GetToken(), Waiting: int(m.GetWaiting()), Limit: int(m.GetLimit()),
		Kind: driver.ParseKind(m.GetKind()),
	}
	for _, h := range m.GetHolders() {
		mode, err := driver.ParseMode(h.GetMode())
		if err != nil {
			return driver.Info{}, err
		}
		i.Holders = append(i.Holders, driver.Holder{
			Owner: h.GetOwner(), Mode: mode, Permits: int(h.GetPermits()), Since: Time(h.GetSince()),
			Upgradeable: h.GetUpgradeable(), Token: h.GetToken(),
			TTL: timeLeftOf(h.GetTtl()), Linger: h.GetLinger().AsDuration(),
			Meta: driver.EncodeMeta(h.GetMeta()),
		})
	}
	for _, w := range m.GetLine() {
		i.Line = append(i.Line, driver.InLine{
			Owner: w.GetOwner(), Since: Time(w.GetSince()), Meta: driver.EncodeMeta(w.GetMeta()),
		})
	}
	return i, nil
}

// timeLeft leaves out what never ends.
func timeLeft(ttl time.Duration) *durationpb.Duration {
	if ttl < 0 {
		return nil
	}
	return durationpb.New(ttl)
}

func timeLeftOf(m *durationpb.Duration) time.Duration {
	if m == nil {
		return -1
	}
	return m.AsDuration()
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
