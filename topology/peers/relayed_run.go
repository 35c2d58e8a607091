package peers

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// Stats count what the peer has met.
func (p *Relayed) Stats() Stats { return p.stats }

// Copy is the world with what it did, or nil until there is one.
func (p *Relayed) Copy() *turns.Copy { return p.copy }

// World is what is shown, or nil until there is one.
func (p *Relayed) World() *world.World {
	if p.copy == nil {
		return nil
	}
	return p.copy.World()
}

// Phase is how far the peer has come.
func (p *Relayed) Phase() Phase { return p.phase }

// Err says why it is over.
func (p *Relayed) Err() error { return p.err }

// ID is the peer's number at the relay, or 0. It is another after each connection.
func (p *Relayed) ID() member.ID {
	if p.line.in == nil {
		return 0
	}
	return p.line.in.Self
}

// Player is whom this peer plays, or 0.
func (p *Relayed) Player() world.Player {
	if p.phase != Playing {
		return world.Nobody
	}
	return p.mine.player
}

// Delay is after how many ticks own commands count now.
func (p *Relayed) Delay() int {
	if p.phase != Playing || p.line.in == nil {
		return 0
	}
	return int(max(p.nextOwn()-1-int64(p.copy.Shown()), 0))
}

// Match is what is played, once it is known.
func (p *Relayed) Match() Match { return p.match }

// Code is what others join the match by, once the relay has told it.
func (p *Relayed) Code() relay.Code { return p.line.code }

// Back is what lets this player return to the same body after a crash: keep it, and give it as
// RelayedOptions.Back. It is zero until the relay has let the peer in.
func (p *Relayed) Back() [relay.SecretSize]byte { return p.line.back }

// Client is the present connection with the relay, for its figures; nil where there is none.
func (p *Relayed) Client() *relay.Client { return p.line.client }

// String tells how far the peer has come, for tests and logs.
func (p *Relayed) String() string {
	if p.copy == nil {
		return fmt.Sprintf("%s %v", p.opt.Name, p.phase)
	}
	return fmt.Sprintf("%s %v member %d rows %d shown %d known %d need %.1f cushion %.1f delay %d",
		p.opt.Name, p.phase, p.ID(), p.rolls.newest, p.copy.Shown(), p.copy.Known(), p.clock.need,
		p.clock.cushion, p.Delay())
}

// Leave gives up the seat for good. Drive the peer on until it has ended.
func (p *Relayed) Leave() {
	p.line.leaving = true
	if p.line.client == nil || p.line.client.Leave() != nil {
		_ = p.end(nil)
	}
}

// Do has f called by the goroutine that drives the peer, and waits for it: the way to use its
// methods while Run runs.
func (p *Relayed) Do(ctx context.Context, f func()) error { return p.calls.Do(ctx, f) }

// Run drives the peer as time goes by, until the context ends or the match is over.
func (p *Relayed) Run(ctx context.Context) error {
	return drive.Loop{
		Tick: p.Poll, Due: p.Deadline,
		Stop: func(error) { p.Leave() }, Grace: second / 2,
		Done:  func() bool { return p.phase == Ended },
		Calls: &p.calls,
	}.Run(ctx)
}

// Deadline is when Poll should be called next, at the latest.
func (p *Relayed) Deadline() time.Duration {
	at := p.now + second/200
	if p.copy != nil && !p.clock.late && p.clock.begun {
		at = min(at, max(p.clock.due, p.now))
	}
	return at
}

// Close closes the link, without a word to anyone: the seat is kept for a while.
func (p *Relayed) Close() error {
	p.calls.Close()
	return p.opt.Link.Close()
}
