package locktest

import "github.com/anishathalye/porcupine"

// state is that of the modelled lock.
type state struct {
	owner string // empty when free
	token uint64 // the newest
}

// lockModel is what a lock may do: grant while free, with a token higher than all
// before, and come free by an unlock of its owner. With an unknown outcome both
// may have happened or not. A store that may forget can grant at any time, but
// its tokens rise all the same.
func lockModel(mayForget bool) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, input, output any) []any {
			return nextStates(s.(state), input.(action), output.(outcome), mayForget)
		},
	}
	return model.ToModel()
}

func nextStates(s state, a action, o outcome, mayForget bool) (next []any) {
	if o.unknown {
		next = append(next, s)
	}
	switch {
	case a.unlock && (s.owner == a.owner || mayForget):
		return append(next, state{token: s.token})
	case a.unlock:
		return next
	case o.unknown && s.owner == "":
		return append(next, state{owner: a.owner, token: s.token})
	case !o.unknown && (s.owner == "" || mayForget) && o.token > s.token:
		return append(next, state{owner: a.owner, token: o.token})
	}
	return next
}
