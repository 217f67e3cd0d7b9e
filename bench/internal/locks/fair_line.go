package locks

import "strings"

// line is the line of a fair lock in Redisson's layout as the server's commands tell of it: who comes at its end, who
// goes, and who gets the lock.
type line struct {
	name, queue string
	last        int            // how many have come
	place       map[string]int // of who stands there
	left        map[string]int // of who does not any more, and has not been served

	served, fromLine, outOfTurn int64
}

func newLine(name string) *line {
	queue := "redisson_lock_queue:{" + name + "}"
	return &line{name: name, queue: queue, place: make(map[string]int), left: make(map[string]int)}
}

// followCommand takes a command as MONITOR tells it: time, [database client], and then each word in quotes.
func (l *line) followCommand(text string) {
	_, text, _ = strings.Cut(text, `] "`)
	word := strings.SplitN(strings.TrimSuffix(text, `"`), `" "`, 6)
	if len(word) < 2 {
		return
	}
	switch command := strings.ToLower(word[0]); {
	case word[1] == l.queue:
		l.followQueue(command, word[2:])
	case word[1] != l.name || len(word) < 4:
	case command == "hset" && word[3] == "1", command == "hincrby" && word[3] == "1":
		l.serveOne(word[2])
	}
}

// followQueue takes a command on the list of those in line.
func (l *line) followQueue(command string, rest []string) {
	switch {
	case command == "rpush" && len(rest) == 1:
		l.comeLast(rest[0])
	case command == "linsert" && len(rest) == 3: // back in its place
		l.place[rest[2]] = l.left[rest[2]]
		delete(l.left, rest[2])
	case command == "lpop":
		if first, ok := l.first(); ok {
			l.leavePlace(first)
		}
	case command == "lrem" && len(rest) == 2:
		l.leavePlace(rest[1])
	}
}

// comeLast has somebody stand at the end. Who was put out though it still waits has lost its turn.
func (l *line) comeLast(who string) {
	if _, ok := l.left[who]; ok {
		l.outOfTurn++
		delete(l.left, who)
	}
	l.last++
	l.place[who] = l.last
}

func (l *line) leavePlace(who string) {
	if at, ok := l.place[who]; ok {
		l.left[who] = at
		delete(l.place, who)
	}
}

// first returns who has stood for longest.
func (l *line) first() (who string, ok bool) {
	for other, at := range l.place {
		if !ok || at < l.place[who] {
			who, ok = other, true
		}
	}
	return who, ok
}

// serveOne has somebody get the lock, from the line or as it comes.
func (l *line) serveOne(who string) {
	l.served++
	l.leavePlace(who)
	at, stood := l.left[who]
	delete(l.left, who)
	if stood {
		l.fromLine++
	}
	if first, ok := l.first(); ok && (!stood || l.place[first] < at) {
		l.outOfTurn++
	}
}
