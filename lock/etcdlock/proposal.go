package etcdlock

import "github.com/bedrock-go/bedrock/lock/driver"

// ProposalKey is the key of metadata that candidates of [Elections] propose: an official one has nothing else.
const ProposalKey = "meta"

// In an election a key has what its candidate proposes, and nothing that says what it is: whoever is the first leads.
// Nobody is granted anything unasked. The token of a term is the revision at which the leader's key was made, as with
// the official client: keys lead in that order, whether they had to wait or not, and it stays the same whatever is
// proposed.

// encode writes what is stored at a key.
func (l layout) encode(r *record) string {
	if !l.elects {
		return r.encode()
	}
	if proposal, ok := driver.DecodeMeta(r.meta)[ProposalKey]; ok {
		return proposal
	}
	return r.meta
}

// readProposal reads what is stored at the key of a candidate.
func readProposal(text string, own bool) record {
	if own {
		return record{state: stands, word: plain, meta: text}
	}
	return record{state: held, word: plain, meta: text}
}
