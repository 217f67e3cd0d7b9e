package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

var _ driver.Notifier = successor{}

// Notify implements [driver.Notifier].
func (b successor) Notify(tell func(driver.Message)) {
	b.note = tell
	if b.twin != nil {
		b.twin.(driver.Notifier).Notify(b.pushMessage)
	}
}

// notifyClient tells the client of a lease what others do; where memlock is the server, that does.
func (l *lease) notifyClient(kind driver.MessageKind) {
	if b := l.backend; b.note != nil && b.twin == nil {
		b.pushMessage(driver.Message{Name: l.name, Owner: l.owner, Kind: kind})
	}
}

// pushMessage does the same with a message of another kind.
func (b *backend) pushMessage(m driver.Message) {
	b.notes++
	b.deliver("note", m.Name, b.notes, func(lost bool) {
		if lost {
			b.note(driver.Message{Kind: driver.Missed})
		} else {
			b.note(m)
		}
	})
}

// deliver sends a message on its way, the nth of its kind. It may be late; where there is trouble it may be lost; and
// now and then it comes twice.
func (b *backend) deliver(kind, name string, nth uint64, tell func(lost bool)) {
	s := b.seed.Named(kind).At(nth)
	d := b.link.Push(kind+" "+name, nth)
	lost := d > b.link.Far && s.At(1).Chance(0.5)
	time.AfterFunc(d, func() { tell(lost) })
	if s.At(2).Chance(0.1) {
		time.AfterFunc(d+s.At(3).Between(0, 3*time.Second), func() { tell(lost) })
	}
}
