package seamless

import (
	"context"
	"errors"
)

// What can go wrong with what is kept for a cluster. Use errors.Is.
var (
	// ErrNone says that there is nothing by that key, or nothing that is asked for any more.
	ErrNone = errors.New("seamless: there is none")
	// ErrStale says that somebody else has written since: the revision or the sequence that was
	// expected is not the last one. Nothing was written.
	ErrStale = errors.New("seamless: somebody else has written since")
	// ErrDoubt says that it is not known whether it was written: no answer came in time. It may
	// still be written later. Read back before anything relies on either; a journal is asked by
	// appending the same again. What was not written by then cannot be any more once somebody
	// else has written in its place: that is what a fence is for.
	ErrDoubt = errors.New("seamless: no answer, so it may have been written or not")
	// ErrAway says that nothing was written, as nobody can be reached who would.
	ErrAway = errors.New("seamless: the cluster's store cannot be reached")
)

// An Entry is a value of a map.
type Entry struct {
	Key   string
	Value []byte
	// Revision grows with each change of anything in the map.
	Revision uint64
}

// A Map keeps what all servers have to agree on: which zones there are, who owns them, in which
// epoch, and who leased which allocators. Values are small. Its methods may be called by any
// goroutine, and return no later than their contexts say.
type Map interface {
	// Get gives the value of a key, or ErrNone. It is the latest: what was acknowledged before the
	// call is seen.
	Get(ctx context.Context, key string) (Entry, error)
	// Set writes a value if the key's revision is the expected one, 0 where there must be none, and
	// gives the new one. Otherwise the error is ErrStale.
	Set(ctx context.Context, key string, value []byte, expect uint64) (uint64, error)
	// Delete is Set of no value: Get gives ErrNone afterwards.
	Delete(ctx context.Context, key string, expect uint64) error
	// List gives all keys that begin with a prefix, in order of key.
	List(ctx context.Context, prefix string) ([]Entry, error)
}

// A Record is one of a journal.
type Record struct {
	// Sequence grows along a journal, and may leave numbers out.
	Sequence uint64
	Data     []byte
}

// An Append is one record for the journal of one zone.
type Append struct {
	// Zone names the journal.
	Zone string
	// Expect is the sequence of the journal's last record, 0 if there is none. It is the fence: if
	// somebody else has appended since, nothing is.
	Expect uint64
	Data   []byte
}

// An Appended is what came of an Append: the record's sequence, or an error. ErrStale means that
// it was not appended, as the journal's last record was another one.
type Appended struct {
	Sequence uint64
	Err      error
}

// A Journal keeps the records of each zone, in order. What is acknowledged is not lost by anything
// that the journal's maker says it survives. Its methods may be called by any goroutine; appends to
// one zone are made one after the other.
type Journal interface {
	// Append appends records, each to the journal of another zone, in one batch, and says what
	// came of each, in the order in which they were given. A record that is there already, with
	// the same bytes right behind the same sequence, appended by the same Journal, is not appended
	// again: its sequence is given. So whoever is in doubt calls again, even when others have
	// written since. Two owners that share a Journal must not write the same bytes; their epochs
	// see to that.
	Append(ctx context.Context, batch []Append) []Appended
	// Last gives the last record of a zone, or ErrNone. It is the latest, as of Map.Get: a fence
	// relies on it.
	Last(ctx context.Context, zone string) (Record, error)
	// Read gives records behind a sequence, in order: all that come to about so many bytes, and one
	// at least if there is one. ErrNone says that those right behind it are not kept any more. It
	// sees at least what this Journal has appended, or given, before; what others append it may
	// see a little later.
	Read(ctx context.Context, zone string, after uint64, bytes int) ([]Record, error)
	// Trim gives up all records before a sequence, but never the last: a snapshot has what they
	// led to, and the fence needs the last.
	Trim(ctx context.Context, zone string, before uint64) error
}

// A Store keeps snapshots of zones, which may be large. Its methods may be called by any goroutine.
type Store interface {
	// Put keeps a value under a key, in place of what was there. It is whole or not there.
	Put(ctx context.Context, key string, value []byte) error
	// Get gives it, or ErrNone.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete gives it up. What is not there is no error.
	Delete(ctx context.Context, key string) error
	// Keys lists the keys that begin with a prefix, in order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}
