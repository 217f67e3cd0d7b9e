package locks

import (
	"strings"
	"testing"
)

// TestLineKnowsWhoIsServedOutOfTurn from the server's commands.
func TestLineKnowsWhoIsServedOutOfTurn(t *testing.T) {
	const (
		comes   = "rpush redisson_lock_queue:{k} "
		goes    = "lrem redisson_lock_queue:{k} 1 "
		returns = "linsert redisson_lock_queue:{k} before "
	)
	for name, c := range map[string]struct {
		commands                    []string
		served, fromLine, outOfTurn int64
	}{
		"in order": {
			commands: []string{
				"hset k a 1 meta", comes + "b", comes + "c", goes + "b", "hset k b 1", "lpop redisson_lock_queue:{k}",
				"hincrby k c 1", "hincrby k c -1",
			},
			served: 3, fromLine: 2,
		},
		"who came later":     {[]string{comes + "b", comes + "c", goes + "c", "hset k c 1"}, 1, 1, 1},
		"who did not stand":  {[]string{comes + "b", "hset k a 1"}, 1, 0, 1},
		"who gave up":        {[]string{comes + "b", comes + "c", goes + "b", goes + "c", "hset k c 1"}, 1, 1, 0},
		"who was put out":    {[]string{comes + "b", goes + "b", comes + "b"}, 0, 0, 1},
		"another lock":       {[]string{comes + "b", "hset kk a 1", "hset k bedrock:heirs x"}, 0, 0, 0},
		"back in its place":  {[]string{comes + "b", comes + "c", goes + "b", returns + "c b", "hset k c 1"}, 1, 1, 1},
		"nobody in line yet": {[]string{"hset k a 1", "hincrby k a -1", "hset k c 1"}, 2, 0, 0},
	} {
		l := newLine("k")
		for _, text := range c.commands {
			l.followCommand(`1700000000.1 [0 lua] "` + strings.Join(strings.Split(text, " "), `" "`) + `"`)
		}
		if l.served != c.served || l.fromLine != c.fromLine || l.outOfTurn != c.outOfTurn {
			t.Errorf("%s: served %d, %d from the line, %d out of turn", name, l.served, l.fromLine, l.outOfTurn)
		}
	}
}
