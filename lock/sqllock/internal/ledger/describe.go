package ledger

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Describe tells who has the name, and who waits in line.
func (s *State) Describe(c *Clock) driver.Info {
	s.prune(c)
	info := driver.Info{Name: s.Name, Token: s.Token}
	if !s.Known {
		info.Token = 0
	}
	holders := s.holders()
	for _, e := range holders {
		info.Holders = append(info.Holders, driver.Holder{
			Owner: e.Owner, Mode: e.Mode, Permits: e.Permits, Upgradeable: e.Upgradeable,
			Since: time.UnixMicro(e.Since), TTL: c.timeLeft(e.Until), Meta: e.Meta,
		})
	}
	if len(holders) > 0 {
		info.Kind = holders[0].Mode.Kind()
	}
	if info.Kind == driver.Semaphore {
		info.Limit = s.Limit
	}
	clients := make(map[string]bool)
	for _, e := range s.places() {
		clients[driver.ClientOf(e.Owner)] = true
		info.Line = append(info.Line, driver.InLine{Owner: e.Owner, Since: time.UnixMicro(e.Since), Meta: e.Meta})
	}
	info.Waiting = len(clients)
	return info
}
