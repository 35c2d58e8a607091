//go:build !js

package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// A fleet is the mirrors of a demo, in one process, with a simulated mesh between them:
//
//	browser 1 ── WebSocket ── mirror 1 ──┐
//	browser 2 ── WebSocket ── mirror 2 ──┼── mesh ── bots
//	browser 3 ── WebSocket ── mirror 3 ──┘
//
// A player who goes on at a mirror in another region has the mesh in between, too.
type fleet struct {
	opt      mirror.Options // of every mirror, but for its links and addresses
	seed     uint64
	knobs    string // that clients are told
	mesh     *mesh
	machines []*machine
	bots     bots

	work   sync.WaitGroup
	ending context.Context
	end    context.CancelFunc
	born   time.Time

	leads     atomic.Int32 // the überserver's number in the group
	witnessed atomic.Bool  // the witness is in the group

	orders sync.Mutex // one order at a time
	mu     sync.Mutex
	preset string
	news   []newsLine
	asked  map[uint64]time.Time // when a player was last asked to come home
	// numbers say which machine a member of the group is, or was: a mirror that is revived has
	// another number in the group, and the same on the page.
	numbers map[member.ID]int
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

// mirrorFlags are what the command line says of mirrors.
type mirrorFlags struct {
	count    int
	timeline string
	texts    []string
	delays   kinds.Delays // the same
}

// check looks at the command line before anything is opened.
func (m *mirrorFlags) check(t *game.Title) (err error) {
	if m.count < fewestMirrors || m.count > mostMirrors {
		return cli.Usagef(
			"--mirrors is %d: it must be from %d to %d; without it there is one plain server",
			m.count, fewestMirrors, mostMirrors)
	}
	if m.delays, err = mirrors.Delays(m.timeline, m.texts, 0); err != nil {
		return err
	}
	if err := mirrors.TryDelays(t, m.timeline, m.delays); err != nil {
		return err
	}
	if kinds.Trails(m.timeline) && len(m.texts) == 1 {
		return cli.Usagef(
			"--delays has one delay: the timeline %s needs at least two, such as 0,1s", m.timeline)
	}
	return nil
}

// openFleet makes the mirrors. Nothing runs until run.
func (d *flags) openFleet(level game.Level) (*fleet, error) {
	conditions, err := netsim.Lookup(d.preset)
	if err != nil {
		return nil, err
	}
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	n := d.mirrors.count
	f := &fleet{
		seed: d.seed, preset: conditions.Name, born: time.Now(), asked: map[uint64]time.Time{},
		numbers: map[member.ID]int{},
		mesh:    newMesh(n+1, conditions, d.seed), // the last is for a witness
	}
	f.opt = mirror.Options{
		Keys: []token.Key{key}, Timeline: d.mirrors.timeline, Delays: d.mirrors.delays,
		Server: server.Options{
			Title: d.title, Level: level, Players: 64, KeepSeat: demoKeep, Workers: 1,
			Intake: d.title.Game.TickLength() / 4,
		},
	}
	if err := mirrors.Tune(&f.opt, d.values); err != nil {
		return nil, err
	}
	f.knobs = architecture.ForClients(d.values).String()
	for i := range n {
		f.machines = append(f.machines, &machine{fleet: f, index: i})
	}
	f.bots = newBots(d.title, d.bots, d.seed, f.join)
	f.ending, f.end = context.WithCancel(context.Background())
	return f, nil
}

func (f *fleet) close() {}

// title is what is played.
func (f *fleet) title() *game.Title { return f.opt.Server.Title }

// run runs mirrors and bots until the context ends, and then all of them have ended.
func (f *fleet) run(ctx context.Context) error {
	defer f.work.Wait()
	defer f.end()
	if err := f.begin(); err != nil {
		return err
	}
	if len(f.machines) == 2 {
		f.work.Go(f.witness)
	}
	f.work.Go(func() { f.bots.run(f.ending) })
	<-ctx.Done()
	return nil
}

// begin has the first mirror found a game, and the others join it.
func (f *fleet) begin() error {
	for i, n := range f.machines {
		if err := n.start(i == 0); err != nil {
			return err
		}
	}
	return nil
}

// kill ends a mirror without a word.
func (f *fleet) kill(i int) error {
	f.orders.Lock()
	defer f.orders.Unlock()
	return f.machines[i].stop()
}

// revive starts a mirror again. If no other is alive there is no game left to join, so it founds
// one.
func (f *fleet) revive(i int) error {
	f.orders.Lock()
	defer f.orders.Unlock()
	found := true
	for _, n := range f.machines {
		found = found && n.alive() == nil
	}
	if err := f.machines[i].start(found); err != nil {
		return err
	}
	f.say(i, map[bool]string{true: "started, and founds a new game", false: "started again"}[found])
	return nil
}

// anew ends the game and begins another: what an operator would do whose mirrors have stopped
// because most of them are gone for good.
func (f *fleet) anew() error {
	f.orders.Lock()
	defer f.orders.Unlock()
	for _, n := range f.machines {
		if n.alive() != nil {
			_ = n.stop() // it may have died by itself
		}
	}
	f.say(-1, "a new game begins")
	f.leads.Store(0)
	return f.begin()
}

// cut cuts the way between two mirrors, or heals it.
func (f *fleet) cut(a, b int, on bool) {
	f.mesh.cut(a, b, on)
	f.reshape()
	f.say(-1, fmt.Sprintf("the way between %d and %d is %s", a+1, b+1,
		map[bool]string{true: "cut", false: "healed"}[on]))
}

// usePreset changes the network between mirrors.
func (f *fleet) usePreset(name string) error {
	c, err := netsim.Lookup(name)
	if err != nil {
		return err
	}
	f.mesh.set(c)
	f.reshape()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.preset = c.Name
	return nil
}

// reshape has browsers of other regions meet the mesh as it is now.
func (f *fleet) reshape() {
	for _, n := range f.machines {
		if l := n.alive(); l != nil {
			l.reshape(f)
		}
	}
}

// mayMove says whether a player may be asked to come home now, and if so, notes it.
func (f *fleet) mayMove(client uint64, now time.Time) bool {
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
func (f *fleet) say(i int, text string) { f.add(newsLine{Mirror: i + 1, Text: text}) }

func (f *fleet) add(l newsLine) {
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

// knows notes which machine a member of the group is.
func (f *fleet) knows(id member.ID, number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != 0 {
		f.numbers[id] = number
	}
}

// who are members of the group, as the page counts them; zero is one that is no mirror of the page:
// the witness.
func (f *fleet) who(ids ...member.ID) []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]int, 0, len(ids))
	for _, id := range ids {
		list = append(list, f.numbers[id])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// names are members of the group in words.
func (f *fleet) names(ids ...member.ID) string {
	var list []string
	for _, n := range f.who(ids...) {
		if n == 0 {
			list = append(list, "the witness")
		} else {
			list = append(list, fmt.Sprint("mirror ", n))
		}
	}
	return strings.Join(list, " and ")
}

// told takes the news of a mirror. Of what all of them tell, the one that it concerns is enough.
func (f *fleet) told(life *life, n mirror.News) {
	l := newsLine{Mirror: life.of.index + 1}
	switch n.Kind {
	case mirror.Began:
		l.Text = "holds the world"
	case mirror.Led:
		if life.mirror == nil || life.mirror.ID() != n.Mirror ||
			f.leads.Swap(int32(n.Mirror)) == int32(n.Mirror) {
			return // the new überserver says so itself, once
		}
		l.Text = "is the überserver now"
	case mirror.CutOff:
		l.Text, l.Bad = "is not in touch with most of the others, and stops", true
		if absent := life.mirror.Absent(); len(absent) > 0 {
			l.Text += ": it does not hear " + f.names(absent...)
		}
	case mirror.Reunited:
		l.Text = "is in touch again"
	case mirror.Rejoining:
		l.Text, l.Bad = "joins anew: "+n.Text, true
	case mirror.Differs:
		l.Text, l.Bad = fmt.Sprintf("settled tick %d otherwise than another", n.Tick), true
	case mirror.Equivocated:
		l.Text, l.Bad = "has proof that "+f.names(n.Mirror)+" lies: "+n.Text, true
	case mirror.Disputed:
		l.Text, l.Bad = "does not believe "+f.names(n.Mirror)+": "+n.Text, true
	case mirror.ClockJumped:
		l.Text, l.Bad = "its clock jumped or stood still", true
	case mirror.LineDown:
		l.Text, l.Bad = "does not reach "+f.names(n.Mirror), true
		if n.Via != 0 {
			l.Text += " directly: it is reached over " + f.names(n.Via)
		}
	case mirror.LineUp:
		l.Text = "reaches " + f.names(n.Mirror) + " directly again"
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
		crimp.SentMessage: "commands", crimp.SentLossy: "commands", crimp.SentHeader: "headers",
		crimp.SentProof: "proofs", crimp.SentOrder: "headers", crimp.SentForward: "against loss",
		crimp.SentRepair: "repairs", crimp.SentControl: "control", crimp.SentRelay: "control",
		crimp.SentMembership: "membership", crimp.SentWhisper: "membership",
		crimp.SentLine: "control", crimp.SentCarry: "for others",
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
func (f *fleet) witness() {
	o, at := f.opt, mirrorAddress(len(f.machines))
	for i := range f.machines {
		o.Ask = append(o.Ask, mirrorAddress(i))
	}
	l := f.mesh.open(at, len(f.machines))
	defer func() { _ = l.Close() }()
	w, err := mirrors.NewWitness(&o, l, at, slog.New(slog.DiscardHandler))
	for f.ending.Err() == nil {
		if errors.Is(err, mirror.ErrEnded) { // there may have been no one; it asks again
			err = w.Join()
		}
		if err != nil {
			f.say(-1, "the witness has ended: "+err.Error())
			return
		}
		if _, err = l.Wait(5 * time.Millisecond); err == nil {
			err = w.Step(time.Since(f.born))
		}
		f.witnessed.Store(w.In())
	}
}

// A player's number says where they live: the region from 1 on in the highest byte, and below it
// whether it is a bot.
const (
	homeShift = 56
	botBit    = 1 << 55
)

func homeOf(client uint64) int { return int(client>>homeShift) - 1 }

func isBot(client uint64) bool { return client&botBit != 0 }

// token lets a player in at every mirror.
func (f *fleet) token(client uint64) (token.Token, error) {
	return mirrors.Token(f.opt.Keys[0], f.title().Name(), client)
}

// botPatience is how long a bot tries each mirror before it tries the next.
const botPatience = 2 * time.Second

// join makes a bot's client, which goes to the mirror of its own region first.
func (f *fleet) join(i int) (*client.Client, error) {
	home := i % len(f.machines)
	t, err := f.token(uint64(home+1)<<homeShift | botBit | uint64(i))
	if err != nil {
		return nil, err
	}
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, byte(i + 1)}), 5000)
	o := client.Options{
		Title: f.title(), Style: predict.None, Token: t, Name: load.BotName(i),
		ConnectTimeout: botPatience, Link: f.mesh.open(at, home),
	}
	for k := range f.machines {
		o.Servers = append(o.Servers, mirrorPublic((home+k)%len(f.machines)))
	}
	return client.New(o)
}
