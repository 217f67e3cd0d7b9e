package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// room is where those are who have a lock: one word, in which who is there alone counts as one, and each of those who
// may be there together as another. Where the workers are several processes the word is in memory that all of them
// have, those of Java included. So whoever comes sees who is there, and the server is sent nothing for that.
type room struct {
	word  *atomic.Int64
	limit int64 // how many may be there together
}

// one is what one counts who must be alone.
const one = 1 << 32

// wordSize is the size of the word.
const wordSize = 8

// comeIn goes inside, and reports whether that is allowed by those who are there.
func (r *room) comeIn(alone bool) (allowed bool) {
	if alone {
		return r.word.Add(one) == one
	}
	return r.word.Add(1) <= r.limit // which is less than one
}

// goOut goes outside.
func (r *room) goOut(alone bool) {
	if alone {
		r.word.Add(-one)
	} else {
		r.word.Add(-1)
	}
}

// newRoom returns one of this process; so many may be there together, or as many as like to if it is 0.
func newRoom(permits int) *room {
	return &room{word: new(atomic.Int64), limit: limitOf(permits)}
}

// limitOf returns how many may be there together.
func limitOf(permits int) int64 {
	if permits > 0 {
		return int64(permits)
	}
	return math.MaxInt32
}

// openRoom returns the job's, of all workers or of this one alone. It is there until the process ends.
func (j Job) openRoom() (*room, error) {
	if j.Room == "" {
		return newRoom(j.Permits), nil
	}
	file, err := os.OpenFile(j.Room, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	defer file.Close()
	memory, err := unix.Mmap(int(file.Fd()), 0, wordSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	return &room{word: (*atomic.Int64)(unsafe.Pointer(&memory[0])), limit: limitOf(j.Permits)}, nil
}

// makeRoom makes a room for all workers of a measurement. It is a file in memory that is gone when it is closed, by
// the end of this process too, and has a name only for as long.
func makeRoom() (name string, file *os.File, err error) {
	fd, err := unix.MemfdCreate("room", unix.MFD_CLOEXEC)
	if err != nil {
		return "", nil, fmt.Errorf("make room: %w", err)
	}
	file = os.NewFile(uintptr(fd), "room")
	if err := file.Truncate(wordSize); err != nil {
		return "", nil, errors.Join(fmt.Errorf("make room: %w", err), file.Close())
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), file, nil
}

var errInside = errors.New("somebody was inside who should not have been")

// method is the half of a workload that starts the workers.
type method func(context.Context, measurement) (Sample, error)

// strictly gives all workers one room, and fails where one was inside who should not have been.
func strictly(measure method) method {
	return func(ctx context.Context, m measurement) (Sample, error) {
		name, file, err := makeRoom()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		m.job.Room = name
		sample, err := measure(ctx, m)
		if err == nil && sample[Violations] > 0 {
			return nil, fmt.Errorf("%w, %.0f times", errInside, sample[Violations])
		}
		return sample, err
	}
}
