//go:build !js

package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// demoMirrors are the mirrors of a demo, in one process, with a simulated sea between them:
//
//	browser 1 ── WebSocket ── mirror 1 ──┐
//	browser 2 ── WebSocket ── mirror 2 ──┼── sea ── bots
//	browser 3 ── WebSocket ── mirror 3 ──┘
//
// A player who goes on at a mirror on another shore has the sea in between, too.
type demoMirrors struct {
	title    *game.Title
	level    game.Level
	key      token.Key
	timeline string
	delays   kinds.Delays
	seed     uint64
	sea      *sea
	nodes    []*demoMirror
	bots     *mirrorBots

	rollbacks []atomic.Uint64 // by mirror, over all its lives
	work      sync.WaitGroup
	ending    context.Context
	end       context.CancelFunc
	born      time.Time
	leads     atomic.Int32 // the überserver's number in the group
	voice     atomic.Bool  // the witness is in the group

	orders sync.Mutex // one order at a time
	mu     sync.Mutex
	preset string
	news   []newsLine
	asked  map[uint64]time.Time // when a player was last asked to come home
}

// A newsLine is something that happened, for the page.
type newsLine struct {
	Number  int     `json:"number"`
	Seconds float64 `json:"seconds"`
	Mirror  int     `json:"mirror"` // 0 for all
	Text    string  `json:"text"`
	Bad     bool    `json:"bad"`
}

// How many mirrors there can be in a demo.
const (
	fewestMirrors = 2
	mostMirrors   = 5
)

// checkMirrors looks at what the command line says of mirrors.
func (d *demo) checkMirrors() error {
	if d.mirrors < fewestMirrors || d.mirrors > mostMirrors {
		return cli.Usagef("--mirrors is %d: it must be from %d to %d; without it there is one plain server", d.mirrors, fewestMirrors, mostMirrors)
	}
	delays, err := mirrorDelays(d.timeline, d.delays, 0)
	if err != nil {
		return err
	}
	if err := tryDelays(d.title, d.timeline, delays); err != nil {
		return err
	}
	if kinds.Trails(d.timeline) && len(d.delays) == 1 {
		return cli.Usagef("--delays has one delay: the timeline %s needs at least two, such as 0,1s", d.timeline)
	}
	d.parsed = delays
	return nil
}

// openMirrors makes the mirrors. Nothing runs until run.
func (d *demo) openMirrors(level game.Level) (*demoMirrors, error) {
	conditions, err := netsim.Lookup(d.preset)
	if err != nil {
		return nil, err
	}
	f := &demoMirrors{title: d.title, level: level, timeline: d.timeline, delays: d.parsed, seed: d.seed, preset: conditions.Name, rollbacks: make([]atomic.Uint64, d.mirrors),
		born: time.Now(), asked: map[uint64]time.Time{}}
	if f.key, err = token.NewKey(rand.Reader); err != nil {
		return nil, err
	}
	f.sea = newSea(d.mirrors+1, conditions, d.seed) // the last is for a witness
	for i := range d.mirrors {
		f.nodes = append(f.nodes, &demoMirror{fleet: f, index: i})
	}
	f.bots = newMirrorBots(f, d.bots)
	f.ending, f.end = context.WithCancel(context.Background())
	return f, nil
}

// run runs mirrors and bots until the context ends, and then all of them have ended.
func (f *demoMirrors) run(ctx context.Context) error {
	defer f.work.Wait()
	defer f.end()
	if err := f.begin(); err != nil {
		return err
	}
	if len(f.nodes) == 2 {
		f.work.Go(f.witness)
	}
	f.work.Go(f.bots.run)
	<-ctx.Done()
	return nil
}

// begin has the first mirror found a game, and the others join it.
func (f *demoMirrors) begin() error {
	for i, n := range f.nodes {
		if err := n.start(i == 0); err != nil {
			return err
		}
	}
	return nil
}

// kill ends a mirror without a word.
func (f *demoMirrors) kill(i int) error {
	f.orders.Lock()
	defer f.orders.Unlock()
	return f.nodes[i].stop()
}

// revive starts a mirror again. If no other is alive there is no game left to join, so it founds one.
func (f *demoMirrors) revive(i int) error {
	f.orders.Lock()
	defer f.orders.Unlock()
	found := true
	for _, n := range f.nodes {
		found = found && n.alive() == nil
	}
	if err := f.nodes[i].start(found); err != nil {
		return err
	}
	f.say(i, map[bool]string{true: "started, and founds a new game", false: "started again"}[found])
	return nil
}

// anew ends the game and begins another: what an operator would do whose mirrors have stopped because most of them are gone for good.
func (f *demoMirrors) anew() error {
	f.orders.Lock()
	defer f.orders.Unlock()
	for _, n := range f.nodes {
		if n.alive() != nil {
			_ = n.stop() // it may have died by itself
		}
	}
	f.say(-1, "a new game begins")
	f.leads.Store(0)
	return f.begin()
}

// cut cuts the way between two mirrors, or heals it.
func (f *demoMirrors) cut(a, b int, on bool) {
	f.sea.cut(a, b, on)
	f.reshape()
	f.say(-1, fmt.Sprintf("the way between %d and %d is %s", a+1, b+1, map[bool]string{true: "cut", false: "healed"}[on]))
}

// usePreset changes the network between mirrors.
func (f *demoMirrors) usePreset(name string) error {
	c, err := netsim.Lookup(name)
	if err != nil {
		return err
	}
	f.sea.set(c)
	f.reshape()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.preset = c.Name
	return nil
}

// reshape has browsers on other shores meet the sea as it is now.
func (f *demoMirrors) reshape() {
	for _, n := range f.nodes {
		if l := n.alive(); l != nil {
			l.reshape(f)
		}
	}
}

// mayMove says whether a player may be asked to come home now, and if so, notes it.
func (f *demoMirrors) mayMove(client uint64, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.asked[client]) < homeAgain {
		return false
	}
	f.asked[client] = now
	return true
}

// keptNews is how many lines the page is shown.
const keptNews = 40

// say adds a line to the news; the mirror is -1 for all.
func (f *demoMirrors) say(i int, text string) { f.add(newsLine{Mirror: i + 1, Text: text}) }

func (f *demoMirrors) add(l newsLine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.Seconds = time.Since(f.born).Seconds()
	if n := len(f.news); n > 0 {
		l.Number = f.news[n-1].Number + 1
	}
	f.news = append(f.news, l)
	if n := len(f.news); n > keptNews {
		f.news = append(f.news[:0], f.news[n-keptNews:]...)
	}
}

// told takes the news of a mirror. Of what all of them tell, the one that it concerns is enough.
func (f *demoMirrors) told(life *mirrorLife, n mirror.News) {
	l := newsLine{Mirror: life.of.index + 1}
	switch n.Kind {
	case mirror.Began:
		l.Text = "holds the world"
	case mirror.Led:
		if life.mirror == nil || life.mirror.ID() != n.Mirror || f.leads.Swap(int32(n.Mirror)) == int32(n.Mirror) {
			return // the new überserver says so itself, once
		}
		l.Text = "is the überserver now"
	case mirror.CutOff:
		l.Text, l.Bad = "is not in touch with most of the others, and stops", true
	case mirror.Reunited:
		l.Text = "is in touch again"
	case mirror.Rejoining:
		l.Text, l.Bad = "joins anew: "+n.Text, true
	case mirror.Differs:
		l.Text, l.Bad = fmt.Sprintf("settled tick %d otherwise than another", n.Tick), true
	case mirror.ClockJumped:
		l.Text, l.Bad = "its clock jumped or stood still", true
	case mirror.Ended:
		l.Text, l.Bad = fmt.Sprintf("has ended: %v", n.Err), true
	default:
		return
	}
	f.add(l)
}

// mirrorTraffic sums up what bytes between mirrors were for, in words for people.
func mirrorTraffic(l *crimp.Ledger) map[string]uint64 {
	names := map[crimp.Purpose]string{
		crimp.SentMessage: "commands", crimp.SentLossy: "commands", crimp.SentHeader: "headers", crimp.SentProof: "proofs", crimp.SentOrder: "headers", crimp.SentForward: "against loss",
		crimp.SentRepair: "repairs", crimp.SentControl: "control", crimp.SentRelay: "control", crimp.SentMembership: "membership", crimp.SentWhisper: "membership",
	}
	out := map[string]uint64{}
	for p, n := range l.Sent {
		name, ok := names[crimp.Purpose(p)]
		if !ok {
			name = "control"
		}
		out[name] += n
	}
	return out
}

// witness lets either of two mirrors go on when the other dies: it has a voice and no world.
func (f *demoMirrors) witness() {
	o := mirror.Options{Timeline: f.timeline, Delays: f.delays}
	o.Server = serverOptions(f.title, f.level, replica.Coeval)
	about, err := o.About()
	if err != nil {
		f.say(-1, "there is no witness: "+err.Error())
		return
	}
	w := &witness{log: slog.New(slog.DiscardHandler), link: f.sea.open(mirrorAddress(2), 2), start: time.Now()}
	defer func() { _ = w.link.Close() }()
	w.opt = membership.Options{
		Options: crimp.Options{History: witnessHistory, Datagram: seaDatagram}, Card: crimp.Card{Addr: mirrorAddress(2)}, Witness: true,
		Protocol: token.ProtocolID("mirrors of " + f.title.Name()), Keys: []token.Key{f.key}, Wall: w.start.Unix(),
		About: about,
	}
	for i := range f.nodes {
		w.opt.Ask = append(w.opt.Ask, mirrorAddress(i))
	}
	err = w.join()
	for f.ending.Err() == nil {
		if errors.Is(err, mirror.ErrEnded) { // there may have been no one; it asks again
			err = w.join()
		}
		if err != nil {
			f.say(-1, "the witness has ended: "+err.Error())
			return
		}
		if _, err = w.link.Wait(5 * time.Millisecond); err == nil {
			err = w.step(time.Since(w.start))
		}
		f.voice.Store(w.in)
	}
}
