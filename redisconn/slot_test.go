package redisconn_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/redisconn"
)

func TestSlot(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want int
	}{
		// As CLUSTER KEYSLOT answers.
		{"", 0},
		{"foo", 12182},
		{"123456789", 12739},
		{"{user1000}.following", 3443},
		{"user1000", 3443},
		{"foo{}{bar}", 8363},
		{"foo{{bar}}zap", 4015},
		{"foo{bar}{zap}", 5061},
		{"bar", 5061},
	} {
		if got := redisconn.Slot(tt.key); got != tt.want {
			t.Errorf("Slot(%q) = %d, want %d", tt.key, got, tt.want)
		}
	}
}
