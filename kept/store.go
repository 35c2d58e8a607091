package kept

import (
	"context"
	"errors"

	"github.com/coeval-dev/coeval/world"
)

// A Scope says what the name in a Key is the name of.
type Scope uint8

// The scopes. Their numbers are in databases, and never change.
const (
	Account Scope = 1 + iota
	Character
	Thing
)

// String is how a scope is written, in schemas and as the beginning of a fence's subject.
func (s Scope) String() string {
	switch s {
	case Account:
		return "account"
	case Character:
		return "character"
	case Thing:
		return "thing"
	}
	return "scope?"
}

// A Key names one thing that is kept: Class is the name of the class that declared it, Of says
// whose it is: an account, a character, a thing of the world.
type Key struct {
	Class string
	Scope Scope
	Of    string
}

// subject is what the one who plays the key's account or character has a fence for.
func (k Key) subject() string { return k.Scope.String() + "/" + k.Of }

// A Row is one thing as it is kept: its values, and the schema with which they were written.
type Row struct {
	Key    Key
	Schema uint64 // hash of the schema's text, which the store has under that number
	Data   []byte // nil: removed
}

// A Name tells one request from all others, for ever: which world, and where in it it was asked.
type Name struct {
	World   uint64
	Tick    world.Tick
	By      world.ID
	Ordinal uint16
}

// A Fence lets one writer write: of those who claimed a subject the last, by its epoch. A store
// refuses an epoch below the highest that it has seen of the subject, by Claim or in a fence.
type Fence struct {
	Subject string
	Epoch   uint64
}

// Tx is what a request may do: all of it or nothing, with all others before or after it.
type Tx interface {
	Get(Key) (Row, bool, error)
	Put(Row) error // Data nil removes
}

// A Store keeps rows. Its methods may block; they are never called by the thread that computes
// ticks.
type Store interface {
	// Claim raises the epoch of a subject; the one before is refused from now on.
	Claim(ctx context.Context, subject, owner string) (Fence, error)
	// Schema says what Row.Schema means. Saying it again changes nothing.
	Schema(ctx context.Context, hash uint64, text string) error
	// Schemas are the texts that Schema has said, by their numbers.
	Schemas(ctx context.Context) (map[uint64]string, error)
	// Load finds rows, in the order of keys; absent ones have no Data.
	Load(ctx context.Context, keys []Key) ([]Row, error)
	// Write writes rows in one transaction. It is ErrFenced if one of the fences is old, and
	// nothing is written. The rows are the caller's again when it returns.
	Write(ctx context.Context, fences []Fence, rows []Row) error
	// Do does a request once for ever: its answer is kept under the name in the same transaction,
	// and who asks again gets it, whatever the fences are by then. If the transaction fails,
	// nothing of it is there; f may be called again for one that will succeed.
	Do(ctx context.Context, name Name, fences []Fence, f func(Tx) ([]byte, error)) (
		answer []byte, again bool, err error)
	// Prune forgets the answers to what was asked in a world up to a tick. Whoever calls it has
	// seen to it that none of that is executed again.
	Prune(ctx context.Context, number uint64, upTo world.Tick) error
}

// What a Store may answer.
var (
	ErrFenced = errors.New("another has claimed it since")
	ErrAway   = errors.New("the database cannot be reached")
	ErrOther  = errors.New("data of another game or version")
)
