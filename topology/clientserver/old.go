package clientserver

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// This file lets a server be made from what was said before there were titles. It goes when nobody does
// so any more, and with it Game, Settings, Replica and Interest in Options.

// Interest says who is shown what, for Options without a Title.
//
// Deprecated: use game.Sight.
type Interest struct {
	// Rules are for players, Spectators for those who watch. Default: everything, and the same.
	Rules, Spectators *interest.Rules
	// Parts describe the game's classes.
	Parts []interest.Part
	// Index fits the search to the game.
	Index interest.Options
	// Observe says from where a player looks. Player and RoundTrip are filled in already. It is called
	// from several goroutines at once, and must not change the world; on spectators it is called with
	// world.Nobody and may use their last Pos, which is kept.
	Observe func(w *world.World, p world.Player, o *interest.Observer)
	// Views, if set, is asked for something else to find views by, for each new world, in place of all of
	// the above.
	Views func(w *world.World, l Level) (Views, error)
}

// Views finds what clients are shown of one world.
//
// Deprecated: use game.Views.
type Views = game.Views

// MakeTitle makes Title from Game, Settings and Interest, where it is not set.
//
// Deprecated: set Title.
func (o *Options) MakeTitle() {
	if o.Title != nil || o.Game == nil {
		return
	}
	in := o.Interest
	if in.Rules == nil {
		in.Rules = &interest.Rules{Sources: []interest.Source{&interest.Everything{}}}
	}
	if in.Spectators == nil {
		in.Spectators = in.Rules
	}
	make := func(s game.Shots) *game.Title {
		return &game.Title{
			Game: o.Game, Levels: game.Levels{Settings: o.Settings}, Shots: s,
			Sight: game.Sight{Views: func(w *world.World, l Level, _ []interest.Part) (game.Views, error) {
				if in.Views != nil {
					return in.Views(w, l)
				}
				return newPlainViews(&in), nil
			}},
		}
	}
	if o.Title = make(game.Shots{}); o.Title.Check() != nil {
		o.Title = make(game.Shots{Judge: func(*world.World, game.Past) {}}) // a class can be rewound
	}
}

// Protocol is what servers that are made from the options speak.
func (o *Options) Protocol() (*replica.Protocol, error) {
	if o.Game != nil {
		return replica.NewProtocol(o.Game, o.Replica)
	}
	return o.Title.Protocol(o.Strategy)
}

// plainViews are those of Interest itself.
type plainViews struct {
	*Interest
	index    *interest.Index
	follower *interest.Follower
}

func newPlainViews(in *Interest) *plainViews {
	ix := interest.NewIndex(in.Index)
	return &plainViews{Interest: in, index: ix, follower: interest.NewFollower(ix, in.Parts...)}
}

func (v *plainViews) Follow(w *world.World) error {
	v.follower.Follow(w)
	return nil
}

func (v *plainViews) Sight(w *world.World, p world.Player, o *interest.Observer) (*interest.Index, *interest.Rules) {
	if v.Observe != nil {
		v.Observe(w, p, o)
	}
	if p == world.Nobody {
		return v.index, v.Spectators
	}
	return v.index, v.Rules
}
