package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
)

// Options are for New. Game, Link and Seed have no default; one who founds a match needs World, and
// one who joins needs Ask and Secret.
type Options struct {
	// Game is the rules.
	Game *world.Game
	// Link is how the other players are reached. The peer closes it.
	Link link.Link
	// Seed is 32 bytes of good randomness, fresh for each peer.
	Seed [32]byte
	// Identity is 32 bytes of good randomness by which the others know this player again: who
	// keeps them returns to the same body after a crash. Default: from Seed.
	Identity [32]byte
	// Secret is what those who are invited know. Who founds a match draws it at random.
	Secret [32]byte
	// Name is what this player is called.
	Name string
	// Wall is the Unix time in seconds at time zero.
	Wall int64
	// Address is where this peer is reached, as far as it knows.
	Address netip.AddrPort

	// Match founds a match, and World makes its world at tick 0.
	Match *Match
	World func(m *Match) (*world.World, error)

	// Expires, if set, is the Unix time in seconds after which this peer's door lets nobody new in,
	// to play or to watch; players who were in return. All who are invited should have the same.
	Expires int64

	// Meeting, if set, is a relay by which players find each other.
	Meeting *Meeting

	// Ask lists where to knock to join a match; with a Meeting it may be empty.
	Ask []netip.AddrPort
	// Watch joins without playing.
	Watch bool
	// Behind is how long ago what a watcher is shown was, beyond what it takes to get there.
	Behind time.Duration

	// Input gives the command of this player for a tick, by what the world shows now. Nil, or to
	// leave in as it is, means a command that does nothing.
	Input func(w *world.World, me world.Player, t world.Tick, in *world.Inputs)
	// After, if set, is called after each tick that was computed. Again says that it was computed
	// before, with something guessed wrong.
	After func(w *world.World, in *world.Inputs, again bool)
	// News, if set, is told what happens.
	News func(News)

	// Style is how this peer deals with commands that are not there yet. Peer.SetStyle changes it.
	Style Style
	// Packets is how many packets a second go to each of the others. Default: one a tick.
	Packets int
	// Watchers is how many this peer feeds at most; others are sent on to those. Default: 2.
	Watchers int
}

// A Style is how a peer deals with commands of others that are not there yet. Each peer has its
// own: it does not change what happens, only what is shown until it is known.
type Style struct {
	// Depth is how many ticks may be shown with commands guessed that are not there: rollback.
	// Zero is lock step: what is not known is not shown. At most MaxDepth.
	Depth int
	// Delay is after how many ticks this player's own commands count. Below zero, it is as long as
	// the slowest path takes, as measured, less Depth. At most MaxDelay.
	Delay int
}

// Lockstep shows nothing that is guessed, and delays commands by as much as the slowest path takes.
func Lockstep() Style { return Style{Delay: -1} }

// Rollback shows up to eight ticks with what is missing guessed, and delays commands by two.
func Rollback() Style { return Style{Depth: 8, Delay: 2} }

// The most that a Style can have.
const (
	MaxDepth = 30
	MaxDelay = 30
)

func (s *Style) check() error {
	if s.Depth < 0 || s.Depth > MaxDepth || s.Delay > MaxDelay {
		return fmt.Errorf(
			"peers: a depth of %d and a delay of %d ticks; choose 0 to %d and up to %d",
			s.Depth, s.Delay, MaxDepth, MaxDelay)
	}
	return nil
}

func (o *Options) fill() error {
	if o.Game == nil || o.Link == nil {
		return errors.New("peers: Options need a Game and a Link")
	}
	if err := o.Game.Err(); err != nil {
		return err
	}
	var zero [32]byte
	if o.Seed == zero {
		return errors.New("peers: Options.Seed is empty; fill it from crypto/rand")
	}
	set(&o.Identity, o.Seed)
	set(&o.Packets, o.Game.Rate())
	set(&o.Watchers, 2)
	if o.Packets < 1 || o.Packets > 1000 {
		return fmt.Errorf("peers: %d packets a second; choose 1 to 1000", o.Packets)
	}
	if o.Match == nil && len(o.Ask) == 0 && o.Meeting == nil {
		return errors.New("peers: found a match with Options.Match, or say with Ask where one is")
	}
	if o.Match != nil && o.World == nil {
		return errors.New("peers: who founds a match makes its world: set Options.World")
	}
	if len(o.Name) > maxName {
		return fmt.Errorf("peers: a name of %d bytes; at most %d", len(o.Name), maxName)
	}
	return o.Style.check()
}
