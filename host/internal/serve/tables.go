//go:build !js

package serve

import (
	"crypto/sha256"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/learned"
	"github.com/coeval-dev/coeval/topology/server"
)

// TablesOptions say whether a server learns better tables for the codec while it runs, and where
// it keeps them. Without any it learns, and keeps nothing.
type TablesOptions struct {
	// Frozen has it use the tables of the title and no others.
	Frozen bool
	// Dir is a folder for what it learns, from which the next start goes on.
	Dir string
}

// learn has a server learn.
func (o *Options) learn(s *server.Server) {
	var how server.Learning
	switch {
	case o.Tables.Frozen || !s.Protocol().Learns():
		return
	case o.Tables.Dir == "":
		s.Learn(how)
		return
	}
	folder, err := learned.Open(o.Tables.Dir, func(err error) {
		o.Log.Warn("tables cannot be kept", "error", err)
	})
	if err != nil {
		o.Log.Warn("tables that are learned are not kept", "error", err)
	} else {
		how.Known = folder.Known(s.Protocol().Model().Schema())
		how.Keep = func(data []byte) { go folder.Keep(sha256.Sum256(data), data) }
	}
	s.Learn(how)
}

// TablesFlag is how a command line says it: learn, frozen, or a folder to keep them in.
type TablesFlag struct{ value string }

// Flag adds it.
func (t *TablesFlag) Flag(f *pflag.FlagSet) {
	f.StringVar(&t.value, "tables", "learn",
		"how snapshots get smaller while people play: learn, and keep what was learned for the "+
			"next start in the user's cache; FOLDER to keep it there; or frozen")
}

// Parse makes options of it.
func (t *TablesFlag) Parse() (o TablesOptions, err error) {
	switch t.value {
	case "frozen":
		return TablesOptions{Frozen: true}, nil
	case "learn":
		o.Dir, err = learned.Dir()
		if err != nil {
			return TablesOptions{}, nil // there is no place to keep them
		}
		return o, nil
	case "":
		return o, cli.Usage(fmt.Errorf("--tables is empty: it is learn, frozen or a folder"))
	}
	return TablesOptions{Dir: t.value}, nil
}
