package architecture

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
)

// A Kind is how a server and its clients play together.
type Kind struct {
	Name string
	// About says in a line what it is.
	About string
	// Strategy is how snapshots are made, and Style how clients show what they do not know yet.
	Strategy replica.Strategy
	Style    predict.Style
	// Take says when the server executes commands.
	Take server.Taking
	// Commands is how many commands each packet of a client carries; 0 for as many as it takes on
	// its network.
	Commands int
	// Snapshots is how many snapshots a client gets in a second; 0 for what the server does anyway.
	// Original is how many the game of that name sent; 0 if that depended on the connection.
	Snapshots, Original int
}

var all = []Kind{
	{Name: "coeval", Strategy: replica.Coeval, Style: predict.Doom3,
		About: "differences from what the client holds of each entity, all is predicted"},
	{Name: "quake", Strategy: replica.Quake, Style: predict.Quake, Take: server.Newest,
		Commands: 1, Original: 20,
		About: "differences from baselines, the newest command counts, nothing is predicted"},
	{Name: "quakeworld", Strategy: replica.QuakeWorld, Style: predict.QuakeWorld,
		Take: server.Each, Commands: 3,
		About: "each command is executed as it comes, the own movement is predicted, all else is " +
			"as last told"},
	{Name: "quake2", Strategy: replica.Quake2, Style: predict.Quake3, Take: server.Each,
		Commands: 3, Original: 10,
		About: "key frames and delta frames, at ten a second in the original"},
	{Name: "quake3", Strategy: replica.Quake3, Style: predict.Quake3, Commands: 2, Original: 20,
		About: "differences from a snapshot, one's own is predicted and all else interpolated"},
	{Name: "halflife", Strategy: replica.Quake3, Style: predict.HalfLife, Commands: 3, Original: 20,
		About: "the same, and shots are judged by what the shooter saw"},
	{Name: "doom3", Strategy: replica.Doom3, Style: predict.Doom3, Original: 20,
		About: "differences from a common base, all is predicted"},
}

// All are the architectures there are, coeval's own first and the others as they appeared.
func All() []Kind { return append([]Kind(nil), all...) }

// Names are their names, for command lines.
func Names() string {
	var list []string
	for _, a := range all {
		list = append(list, a.Name)
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// Parse finds an architecture by its name. It fails for one whose strategy is not part of the
// program.
func Parse(name string) (Kind, error) {
	for _, a := range all {
		if a.Name == name {
			_, err := replica.ParseStrategy(a.Strategy.String())
			return a, err
		}
	}
	return Kind{}, fmt.Errorf("unknown architecture %q, use %s", name, Names())
}

// AsOriginal is the architecture with as many snapshots as the game of that name sent.
func (a Kind) AsOriginal() Kind {
	a.Snapshots = a.Original
	return a
}

// Server sets what a server of the architecture has.
func (a Kind) Server(o *server.Options) {
	o.Strategy, o.Take = a.Strategy, a.Take
	if a.Snapshots > 0 {
		o.SnapshotRate = a.Snapshots
	}
}

// Client sets what a client of the architecture has.
func (a Kind) Client(o *client.Options) {
	o.Strategy, o.Style = a.Strategy, a.Style
	o.Constant = a.Take != server.ByTick
	if a.Commands > 0 {
		o.Redundancy.Least, o.Redundancy.Most = a.Commands, a.Commands
	}
}
