package directory

import (
	"context"
	"sync/atomic"

	"github.com/coeval-dev/coeval/kept"
)

// ErrAway is that a database cannot be reached just now.
var ErrAway = kept.ErrAway

// A Record is what must survive of a place.
type Record struct {
	ID, Place string
	Lease     string
	Since     int64 // Unix time in seconds
	// Announcement is what is listed, with the addresses that were proved.
	Announcement Announcement
}

// A Key names a record.
type Key struct{ ID, Place string }

// A Keeper keeps records. What Change did is durable when it returns nil.
type Keeper interface {
	// Load gives all that there is.
	Load(ctx context.Context) ([]Record, error)
	// Change removes records and then writes others, all of it or nothing.
	Change(ctx context.Context, remove []Key, put []Record) error
	Scorer
	Close() error
}

// A Driver opens the databases of directories.
type Driver interface {
	Open(ctx context.Context, url string) (Keeper, error)
	// Shown is a URL as it may be shown, or why it names no database.
	Shown(url string) (string, error)
}

var driver atomic.Pointer[Driver]

// Use has the program use a driver. Package service/directory/use calls it.
func Use(d Driver) { driver.Store(&d) }

// In is the program's driver, or nil.
func In() Driver {
	if d := driver.Load(); d != nil {
		return *d
	}
	return nil
}
