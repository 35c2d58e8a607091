// Package database is what a program knows of the databases that keep what outlives a match,
// without compiling any: package service/store has them, and a program has those by
//
//	import _ "github.com/coeval-dev/coeval/service/store/use"
package database

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/coeval-dev/coeval/kept"
)

// Options say what a database is opened for.
type Options struct {
	// Game is the name of the game whose data it holds. A database without any is made that game's;
	// one of another game is refused. Without a name the database must be there, and may be that of
	// any game.
	Game string
	// Migrate brings a database of an older version up to date, where it is refused otherwise.
	Migrate bool
}

// A Database is a kept.Store and what operators ask of it.
type Database interface {
	kept.Store
	// Status counts what there is.
	Status(ctx context.Context) (Status, error)
	// Backup writes all that is there at one moment into a file, while others write, and loads it
	// again to see that it is whole.
	Backup(ctx context.Context, file string) (Copied, error)
	Close() error
}

// A Driver opens databases.
type Driver interface {
	Open(ctx context.Context, url string, o Options) (Database, error)
	// Restore fills an empty database from a file that Backup wrote.
	Restore(ctx context.Context, file, url string) (Copied, error)
}

// A Status is what is in a database.
type Status struct {
	URL     string  `json:"url"` // without a password
	Kind    string  `json:"kind"`
	Server  string  `json:"server"` // the version of SQLite or PostgreSQL
	Version int     `json:"version"`
	Game    string  `json:"game"`
	Rows    int64   `json:"rows"`
	Answers int64   `json:"answers"`
	Fences  []Fence `json:"fences"` // the first 100
	// Classes is what was written with which schema.
	Classes []Class `json:"classes"`
	// Unknown counts the rows whose schema nobody has told the database.
	Unknown int64 `json:"unknown"`
	// Durable is false where the database says that a write is done before it is safe.
	Durable bool `json:"durable"`
}

// A Class counts the rows of one class that were written with one schema.
type Class struct {
	Class  string `json:"class"`
	Schema uint64 `json:"schema"`
	Rows   int64  `json:"rows"`
	Text   string `json:"text"` // of the schema
}

// A Fence is who may write.
type Fence struct {
	Subject string `json:"subject"`
	Epoch   uint64 `json:"epoch"`
	Owner   string `json:"owner"`
}

// Copied says what a backup or a restored database holds.
type Copied struct {
	Game    string `json:"game"`
	Version int    `json:"version"`
	Rows    int64  `json:"rows"`
	Answers int64  `json:"answers"`
	Bytes   int64  `json:"bytes"`
	Sum     string `json:"sum"` // of all that is there, the same in either database
}

// ErrNone is that a program was made without databases.
var ErrNone = errors.New("this program has no databases: add " +
	`import _ "github.com/coeval-dev/coeval/service/store/use" to it, or use coevald`)

var driver atomic.Pointer[Driver]

// Use has the program use a driver. Package service/store/use calls it.
func Use(d Driver) { driver.Store(&d) }

// In is the program's driver, or nil.
func In() Driver {
	if d := driver.Load(); d != nil {
		return *d
	}
	return nil
}

// Open opens a database by the program's driver.
func Open(ctx context.Context, url string, o Options) (Database, error) {
	d := In()
	if d == nil {
		return nil, ErrNone
	}
	return d.Open(ctx, url, o)
}
