package driver

// Notifier is implemented by backends whose stores tell a client what others want of its grants, or have
// done to them. Without it the client finds that out at its next request.
type Notifier interface {
	// Notify sets who is told; it is called once, before the first request. It may be told late, several
	// times, and not at all. It must not block, nor call the backend.
	Notify(tell func(Message))
}

// Message is what a client is told of one of its grants.
type Message struct {
	// Name and Owner are the grant's. Nobody knows of which grants of the client something may have been
	// missed: then both are empty.
	Name, Owner string
	Kind        MessageKind
	// Plea is what the holder is asked, by a message of the kind Asked.
	Plea Plea
	// Why says, by a message of the kind Taken, why the grant is gone that nobody has taken away: such as that the
	// connection has ended which had it. It is what the holder's loss is told to be, after "lost: ".
	Why error
}

// MessageKind says what has happened.
type MessageKind uint8

// The kinds of messages.
const (
	// Wanted: somebody was refused. Only a grant with [Grant.Recalled] is told of that.
	Wanted MessageKind = iota
	// Taken: the grant was taken away by force, see [Forcer], or has ended as [Message.Why] says.
	Taken
	// Missed: some may not have been heard.
	Missed
	// Asked: somebody asks for the lock, see [Pleader].
	Asked
)
