package redisbarrier

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

type grade int

// TestArgumentIsWrittenOtherwise: scripts find their arguments as go-redis would have
// written them.
func TestArgumentIsWrittenOtherwise(t *testing.T) {
	server := testenv.Redis(t, nil)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	now, text, number, none := time.Now(), "text", 7, (*int64)(nil)
	for _, arg := range []any{
		nil, text, &text, (*string)(nil), []byte("bytes\x00"), "",
		0, -5, &number, none, int8(-8), uint16(16), uint64(1) << 63,
		1.5, float32(0.1), 1e21, -0.25, 3e-9, true, false, now, &now, (*time.Time)(nil), now.UTC(), time.Minute,
		net.IPv4(127, 0, 0, 1), netip.MustParseAddr("::1"),
	} {
		got, err := textOf(arg)
		want, wantErr := rdb.Do(t.Context(), "ECHO", arg).Text()
		if err != nil || wantErr != nil || got != want {
			t.Errorf("%T %v: %q, %v; go-redis writes %q, %v", arg, arg, got, err, want, wantErr)
		}
	}
	if got, err := textOf(grade(3)); got != "3" || err != nil {
		t.Errorf("a type of one's own: %q, %v", got, err)
	}
	for _, arg := range []any{struct{}{}, []string{"a"}, map[string]int{}, (*struct{})(nil), make(chan int)} {
		if _, err := textsOf([]any{1, arg}); err == nil || err.Error()[:10] != "argument 2" {
			t.Errorf("%T: %v", arg, err)
		}
	}
}
