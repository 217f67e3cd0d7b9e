package txn_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
)

// A graph of any size knows both directions, whatever the order of the branches.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "branches")
		var branches []txn.Branch
		for i := range n {
			b := txn.Branch{ID: fmt.Sprint(i)}
			for j := range i {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					b.After = append(b.After, fmt.Sprint(j))
				}
			}
			branches = append(branches, b)
		}
		branches = rapid.Permutation(branches).Draw(t, "order")
		g, err := txn.NewGraph(branches)
		if err != nil {
			t.Fatal(err)
		}
		if g.Len() != n {
			t.Fatalf("length %d, want %d", g.Len(), n)
		}
		for i := range branches {
			sameGraph(t, g, branches, i)
		}
	})
}

// sameGraph compares one branch with what its definition says.
func sameGraph(t *rapid.T, g *txn.Graph, branches []txn.Branch, i int) {
	var before, after []string
	for _, j := range g.Before(i) {
		before = append(before, branches[j].ID)
	}
	if diff := cmp.Diff(branches[i].After, before); diff != "" {
		t.Fatal(diff)
	}
	for j := range branches {
		if slices.Contains(branches[j].After, branches[i].ID) {
			after = append(after, branches[j].ID)
		}
	}
	var got []string
	for _, j := range g.After(i) {
		got = append(got, branches[j].ID)
	}
	if diff := cmp.Diff(after, got); diff != "" {
		t.Fatal(diff)
	}
	ancestors := g.Ancestors(i)
	for _, j := range g.Before(i) {
		for k, is := range g.Ancestors(j) {
			if is && !ancestors[k] || !ancestors[j] {
				t.Fatalf("%d is before %d, which is before %d", k, j, i)
			}
		}
	}
}

func TestCircles(t *testing.T) {
	for _, n := range []int{1, 2, 3, 40} {
		var branches []txn.Branch
		for i := range n {
			branches = append(branches, txn.Branch{ID: fmt.Sprint(i), After: []string{fmt.Sprint((i + 1) % n)}})
		}
		if _, err := txn.NewGraph(branches); err == nil {
			t.Errorf("a circle of %d was accepted", n)
		}
	}
	for _, n := range []int{2, 40} {
		branches := make([]txn.Branch, n)
		for i := range branches {
			branches[i].ID = fmt.Sprint(i)
		}
		branches[n-1].After = []string{"x"}
		if _, err := txn.NewGraph(branches); err == nil {
			t.Errorf("an unknown name among %d was accepted", n)
		}
	}
}
