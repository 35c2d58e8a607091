package peers

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// RelayedOptions are for NewRelayed. Game, Link, Seed and Token have no default; one who creates a
// match needs Create and World, and one who joins needs Code.
type RelayedOptions struct {
	// Game is the rules.
	Game *world.Game
	// Link is how the relay is reached. The peer closes it.
	Link link.Link
	// Seed is 32 bytes of good randomness, fresh for each peer.
	Seed [32]byte
	// Identity is 32 bytes of good randomness from which this player's keys are made. Default: from
	// Seed.
	Identity [32]byte
	// Secret, if those who are invited have been told one beside the code, keeps a relay that hands
	// out false keys from reading the world when it is sent to someone.
	Secret [32]byte
	// Name is what this player is called, at most relay.MaxName bytes.
	Name string
	// Wall is the Unix time in seconds at time zero.
	Wall int64
	// Token lets this player connect with the relay; Servers is where that is, unless the token
	// says so.
	Token   token.Token
	Servers []netip.AddrPort
	// Renew, if set, gives another token when the connection has ended and no ticket was left. It
	// should not wait: after an error it is called again, for as long as the seat is kept.
	Renew func() (token.Token, error)
	// Timeout ends a connection over which nothing was heard, to try another. Default: 10 s.
	Timeout time.Duration

	// Create asks the relay for a match, and World makes its world at tick 0. Whoever joins may
	// give World too: then nobody has to send a world at the beginning of a match without Data.
	Create *Match
	World  func(m *Match) (*world.World, error)
	// Wait is how long beyond its time a tick waits for somebody's command, at the relay. Default:
	// 100 ms; below zero not at all. Packets is how many packets a second the relay sends to each.
	// Default: one a tick. Both are for one who creates a match.
	Wait    time.Duration
	Packets int

	// Code is that of the match to join, and Back what Relayed.Back gave before a crash, to return
	// to the same body.
	Code relay.Code
	Back [relay.SecretSize]byte
	// Watch joins without playing; Behind is how long ago what a watcher is shown was.
	Watch  bool
	Behind time.Duration

	// Input, After and News are as in Options.
	Input func(w *world.World, me world.Player, t world.Tick, in *world.Inputs)
	After func(w *world.World, in *world.Inputs, again bool)
	News  func(News)
	// Style is how this peer deals with commands that are not there yet. A Delay that is too short
	// for the way to the relay, with what Depth bridges, grows by itself. Relayed.SetStyle changes
	// it.
	Style Style
}

func (o *RelayedOptions) fill() error {
	if o.Game == nil || o.Link == nil {
		return errors.New("peers: RelayedOptions need a Game and a Link")
	}
	if err := o.Game.Err(); err != nil {
		return err
	}
	var zero [32]byte
	if o.Seed == zero {
		return errors.New("peers: RelayedOptions.Seed is empty; fill it from crypto/rand")
	}
	set(&o.Identity, o.Seed)
	set(&o.Packets, o.Game.Rate())
	switch rate := o.Game.Rate(); {
	case rate > relay.MaxRate:
		return fmt.Errorf("peers: %q runs at %d ticks a second; a relay takes up to %d",
			o.Game.Name(), rate, relay.MaxRate)
	case o.Packets < 1 || o.Packets > rate:
		return fmt.Errorf("peers: %d packets a second; choose 1 to %d", o.Packets, rate)
	case (o.Create == nil) == (o.Code == relay.Code{}):
		return errors.New(
			"peers: create a match with RelayedOptions.Create, or say with Code which to join")
	case o.Create != nil && (o.World == nil || o.Watch):
		return errors.New("peers: who creates a match plays, and makes its world: set " +
			"RelayedOptions.World, and do not set Watch")
	case len(o.Name) > relay.MaxName:
		return fmt.Errorf("peers: a name of %d bytes; at most %d", len(o.Name), relay.MaxName)
	case o.Behind < 0 || o.Behind > relay.MaxDelay:
		return fmt.Errorf("peers: %v behind; choose up to %v", o.Behind, relay.MaxDelay)
	}
	return o.Style.check()
}

// A Relayed is one player's machine in a match that a relay holds together. It has a whole copy of
// the world and sends the relay its player's commands; the relay gathers those of all into rows and
// so decides which count in which tick. It is driven by Poll, from one goroutine, or by Run.
type Relayed struct {
	opt   RelayedOptions
	game  *world.Game
	id    *identity
	rand  *seed.Reader
	now   time.Duration
	phase Phase
	err   error
	calls drive.Calls

	match Match
	sum   [32]byte // names the match

	line  line
	rolls rolls
	mine  mine
	clock rowClock
	copy  *turns.Copy
	says  sayings
	fetch fetching
	hosts []*hosting

	batch  []link.Datagram
	out    []link.Datagram
	sealed []byte
	stats  Stats
}

// line is the connection with the relay, and what it has told.
type line struct {
	client  *relay.Client
	in      *relay.Welcome // nil until the relay has let this peer in
	code    relay.Code
	back    [relay.SecretSize]byte
	members []*relay.Peer // the others, by number
	token   token.Token
	spent   bool // the token has been used
	at      time.Duration
	again   time.Duration // when to ask once more on the same connection; 0 if not
	was     bool          // the relay has let this peer in before
	lost    time.Duration // when the connection was lost after that
	grace   time.Duration // for which the relay keeps the seat
	tries   int           // since then, or since the beginning
	full    int           // of those, refused because the match is full
	leaving bool
	known   acquaintance
	past    conn.Ledger // of connections before
}

// NewRelayed makes a peer. It does nothing until it is driven.
func NewRelayed(o RelayedOptions) (*Relayed, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	id, err := newIdentity(o.Identity)
	if err != nil {
		return nil, err
	}
	p := &Relayed{opt: o, game: o.Game, id: id, rand: seed.New(o.Seed),
		batch: make([]link.Datagram, 64)}
	p.line.code, p.line.back, p.line.token = o.Code, o.Back, o.Token
	p.rolls.coder = turns.NewCoder(o.Game)
	p.mine.begin(p.rolls.coder, o.Game)
	p.clock.begin(o.Game.TickLength(), o.Style)
	if o.Create == nil {
		return p, nil
	}
	p.match = *o.Create
	return p, p.match.fill(o.Game)
}

// seed32 draws a seed for another machine.
func (p *Relayed) seed32() (s [32]byte) {
	_, _ = p.rand.Read(s[:])
	return s
}

// terms are what the members of a match must agree on, as the relay tells them: a digest stands for
// a level's own data.
func (m *Match) terms() []byte {
	small := *m
	if len(m.Data) > 0 {
		sum := sha256.Sum256(m.Data)
		small.Data = sum[:]
	}
	c := bits.CursorTo(nil)
	small.fields(&c)
	return c.Data()
}

// connect begins a connection with the relay.
func (p *Relayed) connect() error {
	l := &p.line
	if l.client != nil && l.again > 0 && p.now >= l.again {
		l.again = 0
		return p.enter()
	}
	if l.client != nil || p.now < l.at {
		return nil
	}
	if l.again = 0; l.spent {
		if p.opt.Renew == nil {
			return errors.New("peers: the connection with the relay has ended, and there is no " +
				"other token to connect with")
		}
		t, err := p.opt.Renew()
		if err != nil {
			l.at = p.now + second/4
			if !l.was {
				l.tries++
			}
			if p.gone() {
				return fmt.Errorf("peers: no token for the relay: %w", err)
			}
			return nil
		}
		l.token = t
	}
	o := conn.ClientOptions{Token: l.token, Servers: p.opt.Servers}
	o.Seed, o.Wall, o.Timeout = p.seed32(), p.opt.Wall, p.opt.Timeout
	o.Datagram = min(1200, p.opt.Link.MaxDatagram())
	c, err := relay.NewClient(o)
	if err != nil {
		return err
	}
	l.client, l.in, l.spent = c, nil, true
	l.members = l.members[:0]
	clear(l.known.trips)
	return p.enter()
}

// enter asks to be let into the match.
func (p *Relayed) enter() error {
	own := p.id.card("")
	e := relay.Entry{Name: p.opt.Name, Key: slices.Concat(own.sign[:], own.agree[:]),
		Watch: p.opt.Watch, Delay: p.opt.Behind, Again: true}
	if p.rolls.valid {
		e.From = uint32(p.rolls.newest)
	}
	if p.line.code != (relay.Code{}) {
		return p.line.client.Join(p.line.code, gameText(p.game), relay.Rows, p.line.back, e)
	}
	return p.line.client.Create(relay.Match{
		Game: gameText(p.game), Params: p.match.terms(), Mode: relay.Rows,
		Seats: uint8(p.match.Seats), Start: uint8(p.match.Start),
		Rate: uint8(p.game.Rate()), SendRate: uint8(p.opt.Packets),
		Patience: patience(p.opt.Wait),
		Grace:    (p.match.Grace + second - 1).Truncate(second)}, e)
}

// patience is a Wait as relays take it, in whole milliseconds.
func patience(wait time.Duration) time.Duration {
	if wait < 0 {
		return -time.Millisecond
	}
	return (wait + time.Millisecond - 1).Truncate(time.Millisecond)
}

// Poll does what is due. The time that it is given must run forward.
func (p *Relayed) Poll(now time.Duration) error {
	p.now = now
	if p.phase == Ended {
		p.bye()
		return p.err
	}
	for _, f := range [...]func(*Relayed) error{(*Relayed).connect, (*Relayed).receive,
		(*Relayed).takeRows, (*Relayed).seek, (*Relayed).serve, (*Relayed).play,
		(*Relayed).compare, (*Relayed).flush} {
		if err := f(p); err != nil {
			_ = p.end(err)
		}
		if p.phase == Ended {
			p.bye()
			return p.err
		}
	}
	return nil
}

// end ends the match for this peer. The relay is told, and keeps the seat if this peer had one and
// has not left.
func (p *Relayed) end(err error) error {
	if p.phase != Ended {
		p.phase, p.err = Ended, err
		if p.line.client != nil && !p.line.leaving {
			p.line.client.Close()
		}
		p.tell(News{Kind: Over, Err: err})
	}
	return err
}

func (p *Relayed) tell(n News) {
	if p.opt.News != nil {
		p.opt.News(n)
	}
}

// bye lets the relay hear the last word.
func (p *Relayed) bye() {
	if p.line.client != nil && !p.line.client.Done() {
		for n := len(p.batch); n == len(p.batch); {
			var err error
			if n, err = p.opt.Link.Receive(p.batch); err != nil {
				return
			}
			p.line.client.Receive(p.now, p.batch[:n])
			p.line.client.Events()
		}
		_ = p.send()
	}
}

func (p *Relayed) receive() error {
	l := &p.line
	for range mostBatches {
		n, err := p.opt.Link.Receive(p.batch)
		if err != nil {
			return fmt.Errorf("peers: the way to the relay has ended: %w", err)
		}
		if l.client != nil {
			l.client.Receive(p.now, p.batch[:n])
			if err := p.events(); err != nil {
				return err
			}
		}
		if n < len(p.batch) {
			break
		}
	}
	return nil
}

func (p *Relayed) events() error {
	for _, e := range p.line.client.Events() {
		if p.line.client == nil {
			return nil
		}
		var err error
		switch e.Kind {
		case relay.Welcomed:
			err = p.welcomed(e.Welcome)
		case relay.Refused:
			err = p.refused(&e)
		case relay.Met:
			p.met(e.Peer)
		case relay.Gone:
			p.went(e.Member)
		case relay.Said:
			err = p.word(e.Member, e.Data)
		case relay.Carried:
			p.carried(e.Member, e.Data)
		case relay.Ended:
			err = p.cutOff(&e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refused is told why it is not let in. One that was cut off may have held a seat without knowing,
// which the relay frees after a while: so it asks again.
func (p *Relayed) refused(e *relay.Event) error {
	if l := &p.line; e.Why == relay.RefusedFull && l.tries > 0 && l.full < 10 {
		l.full++
		l.again = p.now + second
		return nil
	}
	return &RefusedError{Why: e.Text, Refusal: e.Why}
}

// welcomed is let into the match by the relay.
func (p *Relayed) welcomed(w *relay.Welcome) error {
	l := &p.line
	founds := l.code == relay.Code{}
	if !founds {
		var m Match
		c := bits.CursorOver(w.Match.Params)
		if m.fields(&c); !c.Done() || w.Match.Mode != relay.Rows {
			return errors.New(
				"peers: the match of this code is not one that a relay holds together")
		}
		if err := m.fits(p.game); err != nil {
			return err
		}
		if !bytes.Equal(p.match.terms(), w.Match.Params) {
			p.match = m // with a digest for its data, until a world is sent
		}
	}
	if int(w.Match.Rate) != p.game.Rate() {
		return fmt.Errorf("peers: the match runs at %d ticks a second, %q at %d", w.Match.Rate,
			p.game.Name(), p.game.Rate())
	}
	l.in, l.code, l.was, l.tries, l.full = w, w.Code, true, 0, 0
	l.grace = w.Match.Grace
	if !p.opt.Watch {
		l.back = w.Secret
	}
	p.tell(News{Kind: Met, Text: w.Code.String()})
	h := sha256.New()
	h.Write([]byte("coeval relayed match"))
	h.Write(p.opt.Secret[:])
	h.Write(w.Code[:])
	h.Write(w.Match.Params)
	p.sum = [32]byte(h.Sum(nil))
	p.mine.restart(p.rolls.coder)
	p.fetch.since = p.now
	p.clock.patience = w.Match.Patience
	if founds || !p.rolls.valid && w.First == 0 && p.opt.World != nil && len(p.match.Data) == 0 {
		return p.found()
	}
	if p.phase = Guest; !p.rolls.valid || world.Tick(w.First) > p.rolls.newest {
		p.rolls.valid, p.phase = false, Asking
		p.fetch.from, p.fetch.want = world.Tick(w.First), open
		if p.opt.Watch {
			p.fetch.want = world.Tick(w.Next) -
				min(world.Tick(w.Next), world.Tick(p.opt.Behind/p.game.TickLength()))
		}
	}
	return nil
}

// found begins with the world of a new match.
func (p *Relayed) found() error {
	w, err := p.opt.World(&p.match)
	if err != nil {
		return err
	}
	if w.Game() != p.game || w.Tick() != 0 {
		return fmt.Errorf(
			"peers: RelayedOptions.World gave a world of %q at tick %d; a match begins with "+
				"one of %q at tick 0", w.Game().Name(), w.Tick(), p.game.Name())
	}
	p.rolls.start(0, p.match.Every, p.match.Seats)
	p.phase = Guest
	p.tell(News{Kind: Following})
	return p.begin(w, 0)
}

// begin makes the copy that executes turns.
func (p *Relayed) begin(w *world.World, chain uint64) error {
	c, err := turns.NewCopy(w, p,
		turns.Options{Every: p.match.Every, After: p.opt.After, Chain: chain})
	if err != nil {
		return err
	}
	p.copy = c
	p.says = sayings{sent: w.Tick(), agreed: w.Tick()}
	p.clock.begun = false
	return p.SetStyle(p.clock.style)
}

func (p *Relayed) met(m *relay.Peer) {
	l := &p.line
	i, ok := slices.BinarySearchFunc(l.members, m.Member,
		func(o *relay.Peer, id member.ID) int { return int(o.Member) - int(id) })
	if m.Player > 0 {
		l.known.names[m.Player-1] = m.Name
	}
	if ok {
		l.members[i] = m
		return
	}
	if m.Watch {
		p.tell(News{Kind: Watching, Member: m.Member, Text: m.Name})
	}
	l.members = slices.Insert(l.members, i, m)
}

func (p *Relayed) went(id member.ID) {
	delete(p.line.known.trips, id)
	p.line.members = slices.DeleteFunc(p.line.members,
		func(o *relay.Peer) bool { return o.Member == id })
	p.hosts = slices.DeleteFunc(p.hosts, func(h *hosting) bool { return h.id == id })
	p.fetch.drop(id, "")
}

// member is one of the others, or nil.
func (l *line) member(id member.ID) *relay.Peer {
	for _, m := range l.members {
		if m.Member == id {
			return m
		}
	}
	return nil
}

// name is what somebody is called.
func (l *line) name(id member.ID) string {
	if m := l.member(id); m != nil {
		return m.Name
	}
	return ""
}

// cutOff is told that the connection with the relay has ended. Where that may be for a while, the
// peer connects again and returns to its seat.
func (p *Relayed) cutOff(e *relay.Event) error {
	l := &p.line
	why := relay.ReasonText(e.Reason)
	if e.Text != "" {
		why += ": " + e.Text
	}
	switch {
	case l.leaving:
		return p.end(nil)
	case e.Err != nil:
		return e.Err
	case l.in == nil && p.gone():
		return fmt.Errorf("peers: no connection with the relay: %s", why)
	case e.Reason == conn.ReasonTimeout, e.Reason == relay.ReasonBehind,
		e.Reason == conn.ReasonNoAcks, e.Reason == conn.ReasonWornOut:
	case p.opt.Renew != nil && // whether a token was taken may not have been heard
		(e.Reason == conn.ReasonTokenUsed || e.Reason == conn.ReasonExpired):
	default:
		return fmt.Errorf("peers: the relay has ended the connection: %s", why)
	}
	if t, ok := l.client.Ticket(); ok {
		l.token, l.spent = t, false
	}
	if l.in != nil {
		l.lost = p.now
		p.stats.Returns++
		p.tell(News{Kind: Out, Text: why})
	}
	l.tries++
	l.past = p.Ledger()
	l.client, l.in, l.at = nil, nil, p.now+second/4
	p.hosts = nil
	p.fetch.stop()
	return nil
}

// gone says whether this peer has tried for so long to connect that it gives up: three times where
// it never was in, and otherwise until its seat is not kept any more.
func (p *Relayed) gone() bool {
	l := &p.line
	if !l.was {
		return l.tries >= 3
	}
	return p.now-l.lost > l.grace+10*second
}

func (p *Relayed) flush() error {
	if p.line.client == nil {
		return nil
	}
	p.flushDoors()
	return p.send()
}

func (p *Relayed) send() error {
	p.out = p.line.client.Flush(p.now, p.out[:0])
	for done := 0; done < len(p.out); {
		n, err := p.opt.Link.Send(p.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return fmt.Errorf("peers: the way to the relay has ended: %w", err)
		}
		p.line.client.Refused(done)
		done++ // as good as lost on the way
	}
	return nil
}
