package driver

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Errors of stores. Any other error leaves open whether a write was applied: the
// caller loads the record and sees.
var (
	// ErrNotFound means that there is no record with this ID.
	ErrNotFound = errors.New("no such transaction")
	// ErrExists means that Create found a record with this ID. Nothing was written.
	ErrExists = errors.New("transaction exists")
	// ErrStale means that Update found another version. Nothing was written.
	ErrStale = errors.New("transaction was changed by somebody else")
	// ErrRefused means that Create or Update does not take this record: it is too large,
	// or of a kind that cannot be kept. Nothing was written, and trying again will not
	// help; another record may be taken.
	ErrRefused = errors.New("the store does not take this record")
	// ErrUnavailable means that the store could not be reached and nothing was sent.
	ErrUnavailable = errors.New("store unavailable")
	// ErrClosed means that the store is closed, and that nothing was written.
	ErrClosed = errors.New("store is closed")
)

// Store keeps records. Its methods may be called by many goroutines at once and
// end when their context ends.
type Store interface {
	// Create writes a new record as given, with Revision 1, in rec as well. ErrExists
	// when the ID is taken.
	Create(ctx context.Context, rec *Record) error

	// Load reads a record. ErrNotFound when there is none.
	Load(ctx context.Context, id string) (*Record, error)

	// Update replaces the record if the one stored has the version was. The store
	// sets the revision to was.Revision+1, in rec as well; the epoch becomes
	// rec.Epoch, which is was.Epoch or higher. ID, Mode, Name, Digest and Created
	// never change, nor does Spec when rec.Spec is nil. ErrStale when another
	// version is stored or none at all; rec is then as it was.
	Update(ctx context.Context, was Version, rec *Record) error

	// Claim hands over records that are due by the store's clock: it sets Owner,
	// raises Epoch and Revision by one, sets Due to the store's now + Lease and clears
	// Waits. Records come in the order of their due times, whole, at most Limit of
	// them; none is given to two claimants. A parked or final record has no due time
	// and is never claimed.
	Claim(ctx context.Context, c Claim) (Claimed, error)

	// Now is the store's clock, by which Claim counts.
	Now(ctx context.Context) (time.Time, error)

	// List reads records, newest first, ordered by creation time and then by the bytes
	// of the ID, both descending. Records that are [Kept] are not among them.
	List(ctx context.Context, q Query) ([]*Record, error)

	// Delete removes final records whose version is still the one stated, and says
	// how many it removed. Others are left alone.
	Delete(ctx context.Context, refs []Ref) (int, error)

	// Close ends the store; calls under way end with an error. Closing again does
	// nothing.
	Close() error
}

// Claim is a request for due records.
type Claim struct {
	Owner string
	Lease time.Duration
	Limit int
	// From and To bound the shards: From <= shard < To. Both zero: all. Claims by
	// target are bounded, too.
	From, To int
	// Target claims records that wait for this target instead, whether due or not.
	Target string
}

// Claimed is the answer to a claim.
type Claimed struct {
	Records []*Record
	// Now is the store's clock while it claimed. It is set even when there was
	// nothing to claim.
	Now time.Time
}

// Ref names a record in one version.
type Ref struct {
	ID string
	Version
}

// Query selects records. Zero fields do not select.
type Query struct {
	Status []Status
	Modes  []string
	Name   string
	// Prefix selects IDs that begin with it.
	Prefix string
	// Parked selects records that wait for a person.
	Parked bool
	// FinishedBefore selects final records that ended before this time.
	FinishedBefore time.Time
	// Before continues after the last record of an earlier answer.
	Before Cursor
	// Limit bounds the answer; 0 means 100.
	Limit int
	// Brief leaves out Spec and State.
	Brief bool
}

// Cursor is the place of a record in the order of List.
type Cursor struct {
	Created time.Time
	ID      string
}

// Cursor is the record's place in the order of List.
func (r *Record) Cursor() Cursor { return Cursor{Created: r.Created, ID: r.ID} }

// TxCreator is a store that can create a record inside its user's own SQL
// transaction: the record exists if that transaction commits. The transaction
// must be on the store's own database.
type TxCreator interface {
	CreateTx(ctx context.Context, tx *sql.Tx, rec *Record) error
}

// Counter is a store that can count cheaply.
type Counter interface {
	Count(ctx context.Context) (Counts, error)
}

// Counts is what a store holds, without what is [Kept].
type Counts struct {
	ByStatus map[Status]int
	Parked   int
	Due      int       // claimable now
	Oldest   time.Time // creation of the oldest that is not final; zero if none
}

// Migrator is a store with a schema. Stores bring theirs up to date when they
// are opened, unless they are told to leave it alone.
type Migrator interface {
	// Migrate brings the schema up to date and says from which version to which.
	Migrate(ctx context.Context) (from, to int, err error)
}
