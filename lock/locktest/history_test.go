package locktest

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// event is one line of a history: what was called from when to when, and what
// came of it.
type event struct {
	action
	outcome
	from, to int64
}

const forever = 1 << 62

func TestModelIsBlind(t *testing.T) {
	lockA, lockB := action{owner: "a"}, action{owner: "b"}
	unlockA, unlockB := action{owner: "a", unlock: true}, action{owner: "b", unlock: true}
	got := func(token uint64) outcome { return outcome{token: token} }
	unknown := outcome{unknown: true}
	for name, tt := range map[string]struct {
		events []event
		want   bool
		forget bool
	}{
		"one after the other": {[]event{
			{lockA, got(1), 1, 2}, {unlockA, got(0), 3, 4}, {lockB, got(2), 5, 6},
		}, true, false},
		"two at once": {[]event{
			{lockA, got(1), 1, 2}, {lockB, got(2), 3, 4},
		}, false, false},
		"two at once in a forgetful store": {[]event{
			{lockA, got(1), 1, 2}, {lockB, got(2), 3, 4},
		}, true, true},
		"granted while the unlock is sent": {[]event{
			{lockA, got(1), 1, 2}, {unlockA, got(0), 3, 6}, {lockB, got(2), 4, 5},
		}, true, false},
		"granted before the unlock is sent": {[]event{
			{lockA, got(1), 1, 2}, {lockB, got(2), 3, 4}, {unlockA, got(0), 5, 6},
		}, false, false},
		"the same token twice": {[]event{
			{lockA, got(1), 1, 2}, {unlockA, got(0), 3, 4}, {lockB, got(1), 5, 6},
		}, false, false},
		"a token that goes back": {[]event{
			{lockA, got(2), 1, 2}, {unlockA, got(0), 3, 4}, {lockB, got(1), 5, 6},
		}, false, false},
		"a token that goes back, forgetful": {[]event{
			{lockA, got(2), 1, 2}, {lockB, got(1), 5, 6},
		}, false, true},
		"an unknown unlock that happened": {[]event{
			{lockA, got(1), 1, 2}, {unlockA, unknown, 3, forever}, {lockB, got(2), 5, 6},
		}, true, false},
		"an unknown lock that did not": {[]event{
			{lockA, unknown, 1, forever}, {lockB, got(2), 3, 4},
		}, true, false},
		"an unknown lock, then two at once": {[]event{
			{lockA, unknown, 1, forever}, {lockB, got(2), 3, 4}, {lockA, got(3), 5, 6},
		}, false, false},
		"an unlock of what is another's": {[]event{
			{lockA, got(1), 1, 2}, {unlockB, got(0), 3, 4},
		}, false, false},
		"an unknown lock cleaned up in time": {[]event{
			{lockA, unknown, 1, forever}, {unlockA, unknown, 1, forever + 1}, {lockB, got(2), 3, 4},
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var operations []porcupine.Operation
			for i, e := range tt.events {
				operations = append(operations, porcupine.Operation{
					ClientId: i, Input: e.action, Output: e.outcome, Call: e.from, Return: e.to,
				})
			}
			if legal := porcupine.CheckOperations(lockModel(tt.forget), operations); legal != tt.want {
				t.Errorf("legal: %v, want %v", legal, tt.want)
			}
		})
	}
}
