package mirror

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a mirror is made from. Server.Title, Link, Address and Keys have no default, and
// without Found there must be someone to Ask.
type Options struct {
	// Server is the side that clients see, as in topology/server: the title, links, limits and
	// rules. Level is what a founder begins with; who joins gets it from the others. Engine is set
	// by the mirror; snapshots go out 30 times a second by default. All mirrors must be given the
	// same title and strategy.
	Server server.Options

	// Link is how mirrors reach each other, and Address where the others reach this one by it.
	Link    link.Link
	Address netip.AddrPort
	// Multicast, if it is set, is an address of IP multicast, such as 239.1.2.3:4100, that Link
	// sends to and hears, as link/multicast does. Mirrors with the same find out which of them hear
	// each other by it, and send to those once in place of once each; to all others, and where
	// multicast stops passing, they send as without it. Mirrors need not have the same.
	Multicast netip.AddrPort
	// Public is where clients reach this mirror, as the other mirrors' clients are told, and Name
	// what people call it.
	Public netip.AddrPort
	Name   string

	// Found begins a new game, of which this mirror is the überserver. Otherwise Ask lists mirrors
	// to ask, any of them.
	Found bool
	Ask   []netip.AddrPort
	// Patience is how long to ask before giving up. Default: for ever.
	Patience time.Duration
	// Keys are the operator's secret, which all mirrors have: who knows it may join. They also open
	// clients' tokens, so that a player's ticket is good at every mirror.
	Keys []token.Key
	// Seed is 32 bytes of good randomness, fresh for each mirror. Zero means drawn.
	Seed [32]byte
	// Wall is the Unix time at now = 0, by which tokens expire. Zero means the present.
	Wall int64

	// Timeline says how mirrors are kept consistent: auto (the default), trailing, timewarp,
	// rollback, lockstep, conservative, bucket; or ruled, the event-based protocol. All mirrors
	// must have the same.
	Timeline string
	// Delays are those of the copies of the world. Lead is how long the leading world waits for
	// commands of other mirrors: more means fewer rollbacks and a later sight of each other, and
	// auto changes it by what it measures. All mirrors must share the Window. Default, for auto and
	// trailing: a lead of 0, one trail at 100 ms, and a window of 1 s.
	Delays kinds.Delays
	// Step and Copy are what computing a tick and copying a world take, by which auto chooses. If
	// one of them is 0 both are measured as the mirror runs; with both given, a run over a
	// simulated network repeats from its seed.
	Step, Copy time.Duration
	// Repair is what auto and trailing do about commands that were late; see kinds.Repair. Default:
	// the leading world is taken back to the command's own tick at once.
	Repair kinds.Repair
	// Exact, with the timeline ruled, has the event-based protocol in the form that the paper gives
	// it, for study: moves go to the others once and unreliably, and to the überserver alone
	// reliably; each strict event is told by it, with all of its fields; moves are never compared,
	// whatever Margins say. What remains different: a title has no handlers of events by which a
	// mirror could change its world, so rulings still bring what was executed, and the events that
	// are told are compared with what came of that. All mirrors must have the same.
	Exact bool
	// Margins say how much copies may differ before it is repaired; see timeline.Margin. Default,
	// if nil: those of the title.
	Margins []timeline.Margin

	// Room is how many players this mirror should have at most, while others have room: beyond it
	// newcomers are sent to the nearest mirror that has, and nobody is let in who has another
	// mirror that works. It is not a limit where a mirror dies and all others are full. Default:
	// as many as the game has.
	Room int
	// SendEvery is how often commands that have come in are passed on; more often means earlier, in
	// more packets. Default: half a tick.
	SendEvery time.Duration
	// History is how long packets between mirrors are of use; who is silent for nine sixteenths of
	// it is dropped: see Silence. All mirrors must have the same. Default: 2 s.
	History time.Duration
	// HashEvery is after how many ticks mirrors compare their settled worlds. Default: 16.
	HashEvery int
	// MaxMirrors bounds the group. Default: 16.
	MaxMirrors int
	// LeaveTime is how long clients have to move to other mirrors when this one leaves. Default:
	// 3 s.
	LeaveTime time.Duration

	// Handover is how a game goes from one group to another.
	Handover Handover

	// Keeper, if set, keeps the game on a disk. A mirror whose disk has a game does not found one,
	// whatever Found says: it joins the others if they play, and if most of them died as well,
	// those that come back go on together with the latest world that they kept.
	Keeper Keeper
	// Revival is how mirrors that keep the game come back together.
	Revival Revival

	// Settled, if set, is called with each settled world, tick after tick, and with what went in:
	// for recording. Server.Begun is called before with the world of each later level.
	Settled func(w *world.World, in *world.Inputs)
	// News is told what happens between mirrors.
	News func(News)
}

// A Revival is how mirrors that keep a game come back after most of them died.
type Revival struct {
	// Anew has this mirror go on alone with what its disk has, as a new group. What the others'
	// disks have beyond it is lost; and if others can still go on with the old group there are two
	// games. It is for when too few come back.
	Anew bool
	// After is how long mirrors that come back wait for those that lack, once they are enough to go
	// on. Default: 5 s, and at least twice Silence.
	After time.Duration
}

// A Handover is how a game goes from one group of mirrors to another, such as one of a new program;
// see Halt.
type Handover struct {
	// Inherit, with Options.Found, is a game to go on with that another group has ceded: its last
	// world. Epoch is higher than that of any decree of that group, so that what those decided
	// outside of the game is told from what is decided here; see Decree. It may be 0 where nothing
	// is.
	Inherit *keep.Snapshot
	Epoch   uint32
	// Ceded, if set, is called once this group has ceded the game after a tick, to a group that
	// players reach at these addresses, until it says that this cannot be forgotten any more: a
	// mirror that keeps the game must not come back with it. It must not wait.
	Ceded func(after world.Tick, to []netip.AddrPort) bool
}

// About is what mirrors must have in common, and a witness with them; see package membership. Who
// differs is not let in, and told in what.
func (o *Options) About() (membership.About, error) {
	if o.Server.Title == nil {
		return membership.About{}, errNoTitle
	}
	g := o.Server.Title.Game
	p, err := o.Server.Title.Protocol(o.Server.Strategy)
	if err != nil {
		return membership.About{}, err
	}
	f := *o
	f.common()
	kind := f.Timeline
	if f.Exact {
		kind += " exact"
	}
	text := fmt.Sprintf("packets 4\ntimeline %s\nwindow %v\nhistory %v\n%s", kind, f.window(), f.History,
		g.Describe())
	return membership.About{Name: g.Name(), Version: p.Hash(), Text: text[:min(len(text), 16<<10)]},
		nil
}

// common fills in what all mirrors must have alike.
func (o *Options) common() {
	o.Timeline = cmp.Or(o.Timeline, "auto")
	if o.Delays.IsZero() && kinds.Trails(o.Timeline) {
		o.Delays.Trails, o.Delays.Window = []time.Duration{100 * time.Millisecond}, time.Second
	}
	o.History = cmp.Or(o.History, 2*time.Second)
}

// Silence is for how long a mirror, or a witness, may not be heard before the others go on without
// it, where packets are of use for so long: time enough to notice that a line is cut, a quarter of
// the history, and to go round it, and not much more, since the players of a dead überserver wait
// for it.
func Silence(history time.Duration) time.Duration { return history * 9 / 16 }

var errNoTitle = errors.New("mirror: nothing to play, set Options.Server.Title")

func (o *Options) fill() error {
	s := &o.Server
	switch {
	case s.Title == nil:
		return errNoTitle
	case o.Link == nil:
		return errors.New("mirror: no link to other mirrors, set Options.Link")
	case !o.Address.IsValid():
		return errors.New("mirror: other mirrors must know where this one is, set Options.Address")
	case o.Multicast.IsValid() && (!o.Multicast.Addr().IsMulticast() || o.Multicast.Port() == 0):
		return fmt.Errorf("mirror: %v is no address of multicast with a port: set "+
			"Options.Multicast to one of 239.0.0.0/8 or ff12::/16, or leave it out", o.Multicast)
	case len(o.Keys) == 0:
		return errors.New(
			"mirror: no key by which mirrors know each other; give all of them the same " +
				"Options.Keys")
	case o.Revival.Anew && (o.Keeper == nil || o.Keeper.Kept() == nil):
		return errors.New("mirror: there is no game that was kept here to found anew")
	case !o.Found && len(o.Ask) == 0 && (o.Keeper == nil || o.Keeper.Memory() == nil):
		return errors.New(
			"mirror: nobody to ask; name a mirror in Options.Ask, or begin a game with " +
				"Options.Found")
	case o.Handover.Inherit != nil && !o.Found:
		return errors.New("mirror: who goes on with another group's game founds one: set " +
			"Options.Found")
	case s.Engine != nil:
		return errors.New("mirror: Options.Server.Engine is the mirror itself, leave it empty")
	}
	if err := s.Title.Check(); err != nil {
		return err
	}
	if err := o.fillMargins(); err != nil {
		return err
	}
	tick := s.Title.Game.TickLength()
	o.common()
	if !slices.Contains(kinds.Names(), o.Timeline) {
		return fmt.Errorf("mirror: there is no timeline %q; choose one of %s", o.Timeline,
			strings.Join(kinds.Names(), ", "))
	}
	if err := o.Repair.Check(o.Timeline); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	list := o.Delays.List()
	for i, d := range list {
		if d < 0 || i > 0 && d <= list[i-1] && kinds.Trails(o.Timeline) {
			return fmt.Errorf(
				"mirror: delays %v: each must be longer than the one before, from 0 up", list)
		}
	}
	o.SendEvery = cmp.Or(o.SendEvery, tick/2)
	if o.SendEvery < 0 || o.SendEvery > 10*tick {
		return fmt.Errorf("mirror: commands passed on every %v, want up to ten ticks", o.SendEvery)
	}
	if o.History < 200*time.Millisecond || o.History > time.Minute {
		return fmt.Errorf("mirror: a history of %v, want 200 ms to a minute", o.History)
	}
	o.Found = o.Found || o.Revival.Anew
	o.Revival.After = max(cmp.Or(o.Revival.After, 5*time.Second), 2*Silence(o.History))
	o.HashEvery = cmp.Or(o.HashEvery, 16)
	o.MaxMirrors = cmp.Or(o.MaxMirrors, 16)
	o.LeaveTime = cmp.Or(o.LeaveTime, 3*time.Second)
	o.Name = cmp.Or(o.Name, o.Address.String())
	s.Players = cmp.Or(s.Players, 64)
	// so that players of other mirrors are seen without another tick's wait
	s.SnapshotRate = cmp.Or(s.SnapshotRate, 30)
	s.KeepSeat = cmp.Or(s.KeepSeat, time.Minute)
	s.Keys = o.Keys
	if len(s.Addresses) == 0 && o.Public.IsValid() {
		s.Addresses = []netip.AddrPort{o.Public}
	}
	o.Wall = cmp.Or(o.Wall, time.Now().Unix())
	s.Conn.Wall = cmp.Or(s.Conn.Wall, o.Wall)
	if o.Seed == [32]byte{} {
		if _, err := rand.Read(o.Seed[:]); err != nil {
			return fmt.Errorf("mirror: %w", err)
		}
	}
	return nil
}

// fillMargins says what is compared.
func (o *Options) fillMargins() error {
	title := o.Server.Title
	switch {
	case o.Exact && o.Timeline != "ruled":
		return fmt.Errorf("mirror: Options.Exact is a form of the timeline ruled, and this is %q",
			o.Timeline)
	case o.Exact:
		o.Margins = []timeline.Margin{}
	case o.Margins == nil:
		o.Margins = title.Margins()
	}
	if err := timeline.CheckMargins(title.Game, o.Margins); err != nil {
		return fmt.Errorf("mirror: Options.Margins: %w", err)
	}
	return nil
}

// window is how long a tick stays open to repair.
func (o *Options) window() time.Duration {
	if kinds.HasWindow(o.Timeline) && o.Delays.Window > 0 {
		return o.Delays.Window
	}
	return time.Second
}
