package peers

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

// Stats count what a peer has met.
type Stats struct {
	Waits      uint64        // ticks that had to wait
	Waited     time.Duration // for how long in all
	Malformed  uint64        // messages that are none
	Refused    uint64        // commands that are none, or another than was sent before
	Unopened   uint64        // commands that are not what was committed to
	Stalls     uint64        // members that were there and sent no commands, and are put out
	Lapses     uint64        // times that a command of a member was repeated, this one's included
	Stale      uint64        // packets of commands from before a lapse
	Unsigned   uint64        // accounts that are not signed by who gave them
	TurnedAway uint64        // guests
	Compared   uint64        // settled worlds that were the same everywhere
	Differed   uint64        // and that were not
	Repaired   uint64        // worlds taken over from others
	Returns    uint64        // times that this peer was taken for gone
}

// Stats count what the peer has met.
func (p *Peer) Stats() Stats { return p.stats }

// Copy is the world with what it did, or nil until there is one.
func (p *Peer) Copy() *turns.Copy { return p.copy }

// World is what is shown, or nil until there is one.
func (p *Peer) World() *world.World {
	if p.copy == nil {
		return nil
	}
	return p.copy.World()
}

// Phase is how far the peer has come.
func (p *Peer) Phase() Phase { return p.phase }

// Err says why it is over.
func (p *Peer) Err() error { return p.err }

// ID is the peer's number in the match, or 0.
func (p *Peer) ID() member.ID { return p.self }

// Player is whom this peer plays, or 0.
func (p *Peer) Player() world.Player {
	if p.phase != Playing {
		return world.Nobody
	}
	return p.own.player
}

// Late tells how late the commands of a member come.
func (p *Peer) Late(id member.ID) Lateness {
	if q := p.pair(id); q != nil {
		return q.late
	}
	return Lateness{}
}

// Delay is after how many ticks own commands count now.
func (p *Peer) Delay() int { return p.pace.delay }

// Match is what is played, once it is known.
func (p *Peer) Match() Match { return p.match }

// Do has f called by the goroutine that drives the peer, and waits for it: the way to use its
// methods while Run runs.
func (p *Peer) Do(ctx context.Context, f func()) error { return p.calls.Do(ctx, f) }

// Run drives the peer as time goes by, until the context ends or the match is over.
func (p *Peer) Run(ctx context.Context) error {
	return drive.Loop{
		Tick: p.Poll, Due: p.Deadline,
		Stop: func(error) { p.Leave() }, Grace: second / 2,
		Calls: &p.calls,
	}.Run(ctx)
}

// Deadline is when Poll should be called next, at the latest.
func (p *Peer) Deadline() time.Duration {
	at := p.now + second/100
	if p.pace.late {
		at = p.now + second/500 // what is missing may come at any time
	}
	if p.copy != nil && !p.pace.late && p.phase == Playing && p.pace.begun {
		at = min(at, max(p.pace.due, p.now))
	}
	return at
}

// Close closes the link, without a word to anyone.
func (p *Peer) Close() error {
	p.calls.Close()
	return p.opt.Link.Close()
}

// Past is how long ago the tick that is shown was due, as of the last Poll and up to the length of
// a tick: for screens that draw what moves a little along its way.
func (p *Peer) Past() time.Duration {
	length := p.game.TickLength()
	switch {
	case !p.pace.begun:
		return 0
	case p.pace.late:
		return length
	}
	return min(max(p.now-p.pace.due+length, 0), length)
}
