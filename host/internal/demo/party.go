//go:build !js

package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// A party is the peers of a demo: players' machines in one process, which play one match over a
// simulated mesh. The page is sent what each of them would draw.
//
//	page ── WebSocket ──┬── peer 1 ──┐
//	                    ├── peer 2 ──┼── mesh
//	                    └── peer 3 ──┘
//
// Or they play by the rows of a relay that is on it.
type party struct {
	title  *game.Title
	level  game.Level
	secret [32]byte
	mesh   *mesh
	hub    *hub        // nil without a relay
	usual  peers.Style // what rollback is
	set    peers.Tuning

	work   sync.WaitGroup
	ending context.Context
	end    context.CancelFunc
	born   time.Time

	orders sync.Mutex // one order at a time
	mu     sync.Mutex
	seats  []*seat
	preset string
	news   []newsLine
	names  map[world.Player]string // who plays whom
	code   relay.Code              // of the match at the relay
}

// How many peers there can be in a demo, at its beginning and in all, those who watch included.
const (
	fewestPeers = 2
	mostPeers   = 8
	mostSeats   = 12
)

// peerFlags are what the command line says of peers.
type peerFlags struct {
	count int
	style peers.Style
	way   string // the style's name
	relay bool
	set   peers.Tuning
}

// check looks at the command line before anything is opened.
func (p *peerFlags) check(d *flags) error {
	if p.count < fewestPeers || p.count > mostPeers {
		return cli.Usagef("--peers is %d: it must be from %d to %d; without it there is one plain "+
			"server", p.count, fewestPeers, mostPeers)
	}
	if !d.title.Screen.Drawn() {
		return cli.Usagef("%s cannot be shown: its title has no Screen to draw with",
			d.title.Name())
	}
	if d.listen != "" {
		return cli.Usagef("--listen lets guests play on a server; the peers of --peers are all " +
			"in this page: leave it out")
	}
	return nil
}

// peerStyle reads --style of a demo with peers.
func peerStyle(name string, given bool) (peers.Style, error) {
	switch {
	case !given || name == "rollback":
		return peers.Rollback(), nil
	case name == "lockstep":
		return peers.Lockstep(), nil
	}
	return peers.Style{}, cli.Usagef("--style is %q: with --peers it must be lockstep or rollback",
		name)
}

// openParty makes the peers. Nothing runs until run.
func (d *flags) openParty(level game.Level) (*party, error) {
	conditions, err := netsim.Lookup(d.preset)
	if err != nil {
		return nil, err
	}
	p := &party{title: d.title, level: level, born: time.Now(), preset: conditions.Name,
		mesh: newMesh(mostSeats+1, conditions, d.seed), usual: peers.Rollback(),
		names: map[world.Player]string{}, set: d.peers.set}
	if d.peers.style.Depth > 0 {
		p.usual = d.peers.style
	}
	_, _ = rand.Read(p.secret[:]) // it never fails
	p.ending, p.end = context.WithCancel(context.Background())
	if d.peers.relay {
		if p.hub, err = openHub(p.mesh); err != nil {
			return nil, err
		}
	}
	for range d.peers.count {
		p.sit(false, d.peers.style)
	}
	return p, nil
}

// names are what the peers of a demo are called, in turn.
var names = [mostSeats]string{"Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gwen", "Hal", "Ida",
	"Jon", "Kim", "Lou"}

// sit adds a machine, on which nothing runs yet.
func (p *party) sit(watch bool, style peers.Style) *seat {
	i := len(p.seats)
	s := &seat{party: p, index: i, name: names[i], watch: watch, style: style,
		bot: p.title.NewBot(p.level.Seed + uint64(i)), viewers: map[*viewer]bool{}}
	s.auto.Store(true)
	_, _ = rand.Read(s.identity[:]) // it never fails
	if p.title.Control != nil {
		s.control = p.title.Control()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seats = append(p.seats, s)
	return s
}

// all lists the machines.
func (p *party) all() []*seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seats)
}

// run runs the peers until the context ends, and then all of them have ended.
func (p *party) run(ctx context.Context) error {
	defer p.work.Wait()
	defer p.end()
	if p.hub != nil {
		p.work.Go(func() { p.hub.run(p.ending) })
	}
	for i, s := range p.all() {
		if err := s.start(i == 0); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

func (p *party) close() {}

// seatAddress is where a machine is on the mesh.
func seatAddress(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 2, 0, byte(i + 1)}), 4747)
}

// seat finds a machine by its number, from 1 on.
func (p *party) seat(number int) (*seat, error) {
	list := p.all()
	if number < 1 || number > len(list) {
		return nil, fmt.Errorf("there is no peer %d: they are numbered from 1 to %d", number,
			len(list))
	}
	return list[number-1], nil
}

// come adds a peer while the others play: one that plays, or one that watches.
func (p *party) come(watch bool) error {
	p.orders.Lock()
	defer p.orders.Unlock()
	if len(p.all()) == mostSeats {
		return fmt.Errorf("there are %d machines, and no room for more", mostSeats)
	}
	s := p.sit(watch, p.usual)
	for _, o := range p.all() {
		if o.off.Load() {
			p.mesh.cut(s.index, o.index, true)
		}
	}
	return s.start(false)
}

// crash ends a peer without a word, and restart starts it again, with nothing left but who it is.
func (p *party) crash(s *seat) error {
	p.orders.Lock()
	defer p.orders.Unlock()
	if err := s.stop(); err != nil {
		return err
	}
	p.say(s, "crashes", true)
	return nil
}

func (p *party) restart(s *seat) error {
	p.orders.Lock()
	defer p.orders.Unlock()
	founds := !s.watch
	for _, o := range p.all() {
		founds = founds && o.running() == nil
	}
	if founds {
		_, _ = rand.Read(p.secret[:]) // those who come back to the old match find nobody
		p.mu.Lock()
		p.code = relay.Code{}
		p.mu.Unlock()
	}
	if err := s.start(founds); err != nil {
		return err
	}
	p.say(s, map[bool]string{
		true: "starts again, and founds a match", false: "starts again"}[founds], false)
	return nil
}

// cut cuts a peer off from all others, or heals that.
func (p *party) cut(s *seat, on bool) error {
	p.orders.Lock()
	defer p.orders.Unlock()
	s.off.Store(on)
	for _, o := range p.all() {
		if o != s {
			p.mesh.cut(s.index, o.index, on || o.off.Load())
		}
	}
	p.mesh.cut(s.index, hubRegion, on)
	p.say(s, map[bool]string{true: "is cut off", false: "is connected again"}[on], on)
	return nil
}

// setStyle has a peer play by lock step or by rollback, or all of them.
func (p *party) setStyle(name string, list ...*seat) error {
	style := p.usual
	switch name {
	case "lockstep":
		style = peers.Lockstep()
	case "rollback":
	default:
		return fmt.Errorf("there is no style %q: it is lockstep or rollback", name)
	}
	for _, s := range list {
		s.setStyle(style)
	}
	return nil
}

// usePreset changes the network between the peers.
func (p *party) usePreset(name string) error {
	c, err := netsim.Lookup(name)
	if err != nil {
		return err
	}
	p.mesh.set(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preset = c.Name
	return nil
}

// say adds a line to the news.
func (p *party) say(s *seat, text string, bad bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := newsLine{Mirror: s.index + 1, Text: text, Bad: bad, Seconds: time.Since(p.born).Seconds()}
	if n := len(p.news); n > 0 {
		l.Number = p.news[n-1].Number + 1
	}
	p.news = append(p.news, l)
	if n := len(p.news); n > keptNews {
		p.news = append(p.news[:0], p.news[n-keptNews:]...)
	}
}

// told takes the news of a peer. Of what all of them tell, the one that it concerns is enough.
func (p *party) told(s *seat, n peers.News) {
	switch n.Kind {
	case peers.Entered:
		p.say(s, fmt.Sprintf("plays from tick %d on", n.Tick), false)
	case peers.Following:
		p.say(s, fmt.Sprintf("has the world of tick %d", n.Tick), false)
	case peers.Out:
		p.say(s, "was taken for gone, and asks to come back", true)
	case peers.Waiting:
		p.say(s, "waits for "+p.member(s, n), true)
	case peers.Differs:
		p.say(s, "has another world: "+n.Text, true)
	case peers.Repaired:
		p.say(s, "has taken over the world of another", false)
	case peers.Left:
		if text := "goes on without " + p.member(s, n); !p.saidLately(text) {
			p.say(s, text, true)
		}
	case peers.Over:
		if n.Err != nil && !errors.Is(n.Err, context.Canceled) && s.running() != nil {
			p.say(s, "has ended: "+n.Err.Error(), true)
		}
	}
}

// saidLately says whether the same was said of another a moment ago.
func (p *party) saidLately(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Since(p.born).Seconds()
	return slices.ContainsFunc(p.news,
		func(l newsLine) bool { return l.Text == text && l.Seconds > now-2 })
}

// member is what a member is called.
func (p *party) member(s *seat, n peers.News) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.seats {
		if o.member.Load() == uint32(n.Member) && o != s {
			return o.name
		}
	}
	return fmt.Sprint("member ", n.Member)
}

// world makes the world that a match begins with.
func (p *party) world(*peers.Match) (*world.World, error) {
	settings, err := p.title.Settings(p.level)
	if err != nil {
		return nil, err
	}
	return p.title.Game.New(settings)
}

// called notes who plays whom.
func (p *party) called(list []peer.Companion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range list {
		p.names[list[i].Player] = list[i].Name
	}
}

// nameOf is what a player is called.
func (p *party) nameOf(player world.Player) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names[player]
}
