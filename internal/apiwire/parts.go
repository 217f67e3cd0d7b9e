package apiwire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// steps writes the branches of a saga.
func steps(branches []txn.Branch) ([]*bedrockv1.Step, error) {
	messages := make([]*bedrockv1.Step, len(branches))
	for i := range branches {
		b := &branches[i]
		if b.Confirm != "" {
			return nil, noWord(i, "confirm", "saga")
		}
		messages[i] = &bedrockv1.Step{
			Id: b.ID, Action: string(b.Do), Compensate: string(b.Undo), Use: b.Use, Policy: policy(b.Policy),
		}
		if !afterPrevious(branches, i) {
			messages[i].After = after(b.After)
		}
		if b.Payload != nil {
			messages[i].Body = &bedrockv1.Step_PayloadBytes{PayloadBytes: b.Payload}
		}
	}
	return messages, nil
}

// afterPrevious reports whether a step waits for the one before it, which needs no word.
func afterPrevious(branches []txn.Branch, i int) bool {
	after := branches[i].After
	if i == 0 {
		return len(after) == 0
	}
	return len(after) == 1 && after[0] == branches[i-1].ID
}

func stepsOf(messages []*bedrockv1.Step) ([]txn.Branch, error) {
	branches := room(len(messages))
	for i, m := range messages {
		b := txn.Branch{
			ID: m.GetId(), Do: txn.Target(m.GetAction()), Undo: txn.Target(m.GetCompensate()),
			Use: m.GetUse(), Policy: policyOf(m.GetPolicy()),
		}
		if i > 0 && m.GetAfter() == nil {
			b.After = []string{branches[i-1].ID}
		}
		if err := fillPart(&b, m); err != nil {
			return nil, inPart("steps", i, err)
		}
		branches = append(branches, b)
	}
	return branches, nil
}

// Branches writes the branches of a TCC transaction.
func Branches(branches []txn.Branch) []*bedrockv1.Branch {
	messages := make([]*bedrockv1.Branch, len(branches))
	for i := range branches {
		b := &branches[i]
		messages[i] = &bedrockv1.Branch{
			Id: b.ID, Try: string(b.Do), Confirm: string(b.Confirm), Cancel: string(b.Undo),
			Use: b.Use, Policy: policy(b.Policy),
		}
		if len(b.After) > 0 {
			messages[i].After = after(b.After)
		}
		if b.Payload != nil {
			messages[i].Body = &bedrockv1.Branch_PayloadBytes{PayloadBytes: b.Payload}
		}
	}
	return messages
}

// BranchesOf reads the branches of a TCC transaction.
func BranchesOf(messages []*bedrockv1.Branch) ([]txn.Branch, error) {
	branches := room(len(messages))
	for i, m := range messages {
		b := txn.Branch{
			ID: m.GetId(), Do: txn.Target(m.GetTry()), Confirm: txn.Target(m.GetConfirm()),
			Undo: txn.Target(m.GetCancel()),
			Use:  m.GetUse(), Policy: policyOf(m.GetPolicy()),
		}
		if err := fillPart(&b, m); err != nil {
			return nil, inPart("branches", i, err)
		}
		branches = append(branches, b)
	}
	return branches, nil
}

// receivers writes the branches of a message.
func receivers(branches []txn.Branch) ([]*bedrockv1.Receiver, error) {
	messages := make([]*bedrockv1.Receiver, len(branches))
	for i := range branches {
		b := &branches[i]
		switch {
		case b.Do != "":
			return nil, noWord(i, "do", "msg")
		case b.Undo != "":
			return nil, noWord(i, "undo", "msg")
		case len(b.After) > 0:
			return nil, noWord(i, "after", "msg")
		case len(b.Use) > 0:
			return nil, noWord(i, "use", "msg")
		}
		messages[i] = &bedrockv1.Receiver{Id: b.ID, To: string(b.Confirm), Policy: policy(b.Policy)}
		if b.Payload != nil {
			messages[i].Body = &bedrockv1.Receiver_PayloadBytes{PayloadBytes: b.Payload}
		}
	}
	return messages, nil
}

// ReceiversOf reads the branches of a message.
func ReceiversOf(messages []*bedrockv1.Receiver) (_ []txn.Branch, err error) {
	branches := room(len(messages))
	for i, m := range messages {
		b := txn.Branch{ID: m.GetId(), Confirm: txn.Target(m.GetTo()), Policy: policyOf(m.GetPolicy())}
		if b.Payload, err = payloadOf("payload", m); err != nil {
			return nil, inPart("deliver", i, err)
		}
		branches = append(branches, b)
	}
	return branches, nil
}

// Joining writes what joins a transaction in the words of its mode: the branches of a definition,
// and the ID of the transaction they join.
func Joining(d *txn.Definition) (m *bedrockv1.EnlistRequest, err error) {
	m = &bedrockv1.EnlistRequest{Id: d.ID}
	if d.Mode == msg.Name {
		m.Deliver, err = receivers(d.Branches)
		return m, err
	}
	m.Branches = Branches(d.Branches)
	return m, nil
}

// JoiningOf reads what joins a transaction. In the words of two modes it is refused: no
// transaction has parts of both.
func JoiningOf(m *bedrockv1.EnlistRequest) ([]txn.Branch, error) {
	switch {
	case len(m.GetDeliver()) == 0:
		return BranchesOf(m.GetBranches())
	case len(m.GetBranches()) == 0:
		return ReceiversOf(m.GetDeliver())
	default:
		return nil, &txn.InvalidError{Field: "deliver", Problem: "is there beside branches; want branches, or deliver"}
	}
}

// EnlistMode is the mode in whose words a request adds branches to a transaction.
func EnlistMode(m *bedrockv1.EnlistRequest) string {
	if len(m.GetDeliver()) > 0 {
		return msg.Name
	}
	return tcc.Name
}

func noWord(i int, field, mode string) error {
	return &txn.InvalidError{Field: fmt.Sprintf("branches[%d].%s", i, field), Problem: "has no meaning in mode " + mode}
}

func after(ids []string) *structpb.ListValue {
	list := &structpb.ListValue{Values: make([]*structpb.Value, len(ids))}
	for i, id := range ids {
		list.Values[i] = structpb.NewStringValue(id)
	}
	return list
}

func afterOf(list *structpb.ListValue) (ids []string, err error) {
	for _, v := range list.GetValues() {
		id, ok := v.GetKind().(*structpb.Value_StringValue)
		if !ok {
			return nil, &txn.InvalidError{Field: "after", Problem: "want a list of IDs"}
		}
		ids = append(ids, id.StringValue)
	}
	return ids, nil
}

// room is for as many branches; nil for none.
func room(n int) []txn.Branch {
	if n == 0 {
		return nil
	}
	return make([]txn.Branch, 0, n)
}

// ordered is a message with a payload and an order.
type ordered interface {
	body
	GetAfter() *structpb.ListValue
}

// fillPart reads what steps and branches have in common.
func fillPart(b *txn.Branch, m ordered) (err error) {
	if m.GetAfter() != nil {
		if b.After, err = afterOf(m.GetAfter()); err != nil {
			return err
		}
	}
	b.Payload, err = payloadOf("payload", m)
	return err
}

// inPart says which part a field is in. Most are right, so paths are put together on the way
// back only.
func inPart(parts string, i int, err error) error {
	if wrong, ok := errors.AsType[*txn.InvalidError](err); ok {
		return &txn.InvalidError{Field: fmt.Sprintf("%s[%d].%s", parts, i, wrong.Field), Problem: wrong.Problem}
	}
	return err
}

// body is a message with a payload.
type body interface {
	GetPayload() *structpb.Value
	GetPayloadBytes() []byte
}

func payloadOf(field string, m body) ([]byte, error) {
	v := m.GetPayload()
	if v == nil {
		return m.GetPayloadBytes(), nil
	}
	payload, err := encoded(v)
	if err != nil {
		return nil, &txn.InvalidError{Field: field, Problem: err.Error()}
	}
	return payload, nil
}
