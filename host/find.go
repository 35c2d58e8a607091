//go:build !js

package host

import (
	"context"
	"slices"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/find"
	client "github.com/coeval-dev/coeval/service/directory/ask"
)

// FindOptions say where servers of a title are looked for, and which. The zero value looks on the
// local network.
type FindOptions struct {
	// Directory is the URL of a directory that is asked. DirectoryTrust is its certificate if
	// nobody has signed that: a fingerprint (sha256:...) or a file in PEM.
	Directory, DirectoryTrust string
	// LAN asks the local network, too.
	LAN bool
	// Region, Tags and Search leave only those in a region, with all tags, and with a text in their
	// name; Room those that have room for one more.
	Region string
	Tags   []string
	Search string
	Room   bool
}

// A Found is a server, or a group of mirrors, with how far each place is. It is joined by
// JoinOptions with Servers as its Addresses says.
type Found = find.Server

// Find lists the servers of a title and measures the way to each: those first that can be joined,
// and of these the nearest. It takes about a second.
func Find(ctx context.Context, t *game.Title, o FindOptions) ([]*Found, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	x := find.Search{LAN: o.LAN || o.Directory == "", Titles: []*game.Title{t},
		Filter: client.Filter{Game: t.Name(), Region: o.Region, Tags: o.Tags, Name: o.Search,
			Room: o.Room}}
	if o.Directory != "" {
		trust, err := entry.ParseTrust(o.DirectoryTrust)
		if err != nil {
			return nil, err
		}
		if x.Directory, err = client.New(o.Directory, trust.Client()); err != nil {
			return nil, err
		}
	}
	r, err := x.Run(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Servers, find.Nearest)
	return r.Servers, nil
}
