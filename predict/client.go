package predict

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// Options say how a Client predicts. Player has no default, and Settings.Seed must be the server's.
type Options struct {
	// Player is who plays here, or Nobody for someone who watches.
	Player world.Player
	// Settings are those of the server's world, as far as clients know them.
	Settings world.Settings
	// Start is the server's world as it was at its start, if the client has it. What of its states
	// did not change since is not sent.
	Start *world.World
	// Style is how what is not known yet is shown. SetStyle changes it.
	Style Style
	// Classes say how single classes are treated, by their names.
	Classes map[string]Class
	// Clock and Playout are how the two clocks run; their rates are the game's.
	Clock   ClockOptions
	Playout PlayoutOptions
	// Keep is how many ticks the client can be ahead of the newest snapshot. Each takes a copy of
	// what is in view. Default: 64.
	Keep world.Tick
	// Extrapolate is for how many ticks interpolated things go on when nothing is heard. Default: a
	// quarter of a second.
	Extrapolate world.Tick
	// Patience is how many ticks the server's word on a foreseen event or spawn may be late before
	// it is taken back. Default: half a second.
	Patience world.Tick
}

// A Client makes of snapshots and a player's own commands the world to draw. It has no clock and no
// socket: it is given the time, what arrived, and a command for each tick that is due, and it gives
// the world and the commands to send.
//
//	c.Receive(now, receiver)                         // whenever packets came
//	for range c.Due(now) {                           // at each frame
//		world.Give(c.Next(), me, keys())
//		c.Step()
//	}
//	draw(c.Show(now))
//	tick, images := c.Commands(redundancy)           // to replica.CommandWriter
//
// It belongs to one goroutine at a time.
type Client struct {
	game    *world.Game
	o       Options
	style   Style
	classes []*class

	timing
	knowledge
	prediction
	picture
	aims aims
	leaping
	measured
	scratch
	notices notices
}

// timing is by which clocks the client lives. Style None has the plain one, all others have the
// other two.
type timing struct {
	clock   *Clock
	playout *Playout
	lead    plainClock
	trip    time.Duration
	jitter  time.Duration
}

// knowledge is what the server told. What is in truth was told in just these words, though not all
// of it for one tick: what is outdated has changed since.
type knowledge struct {
	truth    *world.World  // every entity in view, as it was told last
	any      bool          // something was told
	known    world.Tick    // the player's tick that the newest snapshot is of
	latest   world.Tick    // and the server's
	came     time.Duration // when that came
	ahead    int64         // by how many ticks the one is past the other; see player
	certain  world.Tick    // the newest tick of which everything is known
	outdated []world.ID    // of what is in truth, what has changed since; in order
	unseen   bool          // there is something new in view that was not told
	tracks   tracks        // for what is interpolated
}

// prediction is what follows from that. Worlds of the past up to past.valid follow from what is
// known; those after it are to be computed again before anyone sees them.
type prediction struct {
	past   past
	plain  *world.World // as it is before anything was told
	alone  *world.World // for what is predicted by itself
	before *world.World // the present as it was predicted before news came
	stale  bool         // before holds it
	pairs  []pair       // predicted spawns that turned out to be real, since then
	blends blends       // what is left of errors
}

// picture is what players see. Each event is handed out once, by a notice, and nothing that is seen
// of others goes back in time.
type picture struct {
	shown *world.World
	// attached to shown, and to a world of the past while it is predicted for the first time
	locals *world.Locals
	seen   float64 // the moment of the past that is shown of others
	handed []Notice
}

// measured is what became known about the client's own work.
type measured struct {
	stats Stats
	moved []Correction
	given []Correction
	err   error
}

// scratch is memory that is used again.
type scratch struct {
	primed []world.ID // classes that every world has room for
	reader bits.Reader
	ids    []world.ID // what the snapshot told of, in order
	wrong  []world.ID
	gone   []world.ID
	spawns []world.ID // that were foreseen
	a, b   []int32    // commands
}

type pair struct{ from, to world.ID }

// New makes a client that has heard nothing yet.
func New(g *world.Game, o Options) (*Client, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	o.Keep = cmp.Or(o.Keep, 64)
	if o.Keep < 8 || o.Keep > 1024 {
		return nil, fmt.Errorf("predict: Keep is %d ticks; choose 8 to 1024", o.Keep)
	}
	rate := world.Tick(g.Rate())
	o.Extrapolate = cmp.Or(o.Extrapolate, max(1, rate/4))
	o.Patience = cmp.Or(o.Patience, max(1, rate/2))
	o.Clock.Rate, o.Playout.Rate = g.Rate(), g.Rate()
	if o.Clock.Most == 0 || o.Clock.Most > o.Keep-2 {
		o.Clock.Most = o.Keep - 2
	}
	o.Settings.Partial, o.Settings.States = true, nil
	c := &Client{game: g, o: o, style: o.Style}
	c.lead.tick = g.TickLength()
	seen := 0
	for _, info := range g.Classes() {
		x, ok := o.Classes[info.Name()]
		if ok {
			seen++
		}
		made, err := newClass(info, x)
		if err != nil {
			return nil, err
		}
		c.classes = append(c.classes, made)
		c.leapers = c.leapers || x.Leap != nil
		c.modes = c.modes || x.Mode == Own || x.Mode == Interpolated
	}
	if seen != len(o.Classes) {
		return nil, errors.New(
			"predict: Options.Classes names a class that the game does not have; look at " +
				"Game.Classes")
	}
	if o.Start != nil && o.Start.Game() != g {
		return nil, errors.New("predict: Options.Start is a world of another game")
	}
	if err := c.worlds(&c.truth); err != nil {
		return nil, err
	}
	if g.Commands() != nil {
		n := len(g.Commands().Slots)
		c.a, c.b = make([]int32, n), make([]int32, n)
	}
	c.notices.init(g)
	c.notices.me = o.Player
	if c.style == None {
		c.past.initPlain(g, len(c.a))
		return c, nil
	}
	return c, c.prepare()
}

// prepare makes what prediction needs, and style None does not.
func (c *Client) prepare() error {
	if c.clock != nil {
		return nil
	}
	if err := c.worlds(&c.before, &c.shown, &c.plain, &c.alone); err != nil {
		return err
	}
	c.locals = c.game.NewLocals()
	if err := c.shown.Host().SetLocals(c.locals); err != nil {
		return err
	}
	c.clock, c.playout = NewClock(c.o.Clock), NewPlayout(c.o.Playout)
	c.past.init(c.plain, int(c.o.Keep)+2, len(c.a))
	if c.game.Rewinds() > 0 && c.a != nil {
		c.initAims(int(c.o.Keep) + 2)
	}
	c.tracks.of, c.blends.of = map[world.ID]*track{}, map[world.ID]*blend{}
	return nil
}

// worlds makes partial worlds with the states of the one from which the server started.
func (c *Client) worlds(list ...**world.World) error {
	for _, w := range list {
		var err error
		if *w, err = c.game.New(c.o.Settings); err != nil {
			return err
		}
		if c.o.Start != nil {
			if err := c.states(*w, c.o.Start); err != nil {
				return err
			}
		}
	}
	return nil
}

// states takes over the states of the world from which the server started.
func (c *Client) states(w, start *world.World) error {
	for i, x := range c.classes {
		if !x.info.State() {
			continue
		}
		for id := range start.Host().Of(i) {
			if err := w.Host().Put(id, start.Host().Entry(id), start.Host().Image(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Pause stops the client's time until the next snapshot comes, such as while the server's stands
// still. For another world make another Client.
func (c *Client) Pause() {
	if c.style == None {
		c.lead.reset()
		return
	}
	c.clock.Stop()
}

// Moved tells that the client goes on at another server, to which the way may be longer: the
// world's time goes on, what was measured does not count any more.
func (c *Client) Moved() {
	if c.style == None {
		c.lead.moved = true
		return
	}
	c.clock.Moved()
}

// Toward tells the round trip to another server of the same world to which commands go as well, so
// that they are in time there; zero that they go to none.
func (c *Client) Toward(now, roundTrip time.Duration) {
	if c.style != None {
		c.clock.Toward(now, roundTrip)
	}
}

// SetLeast tells the least round trip of late, by which the clock notices that the path is another.
func (c *Client) SetLeast(roundTrip time.Duration) {
	if c.style != None {
		c.clock.SetLeast(roundTrip)
	}
}

// SetQuality tells what the connection measures: the round trip, and the share of datagrams lost on
// the way to the server.
func (c *Client) SetQuality(roundTrip time.Duration, loss float64) {
	if roundTrip > 0 {
		c.trip = roundTrip
	}
	if c.style != None {
		c.clock.SetQuality(roundTrip, loss)
	}
}

// SetJitter tells by how much the round trip varies: what style None reckons with, as it has no
// measurements of its own.
func (c *Client) SetJitter(d time.Duration) { c.jitter = d }

// Clock is the one that says how far the client is ahead, to be looked at. Style None has none.
func (c *Client) Clock() *Clock { return c.clock }

// Playout is the one that says how far in the past interpolated things are shown, to be looked at.
// Style None has none.
func (c *Client) Playout() *Playout { return c.playout }

// Ahead is by how many ticks what the player owns is shown past the newest snapshot, and Behind by
// how many what is interpolated is shown before it.
func (c *Client) Ahead() float64 {
	if c.style == None || !c.any {
		return 0
	}
	return c.clock.Ahead()
}

// Behind is by how many ticks what is interpolated is shown before the newest snapshot.
func (c *Client) Behind() float64 {
	if c.style == None || !c.any {
		return 0
	}
	return c.playout.Behind()
}

// Fraction is how much of the time until the next tick has passed, from 0 to 1: for what draws more
// often than the game steps.
func (c *Client) Fraction() float64 {
	if c.style == None {
		return 0
	}
	return c.clock.Fraction()
}

// Truth is what the server last said of everything in view. It is to be left as it is.
func (c *Client) Truth() *world.World { return c.truth }

// Style is how the client shows what it does not know yet.
func (c *Client) Style() Style { return c.style }

// SetStyle changes the style while the game runs.
func (c *Client) SetStyle(s Style) {
	if s == c.style || int(s) >= len(styleNames) {
		return
	}
	was := c.style
	c.style = s
	if s == None {
		c.lead.reset()
		c.stale = false
		return
	}
	if err := c.prepare(); err != nil {
		c.style = was
		c.fail(err)
		return
	}
	if was == None {
		c.clock.Stop() // until the next snapshot
		c.clock.SetQuality(c.trip, 0)
		if c.any { // what is known is the present
			c.past.now, c.past.valid = c.known, c.known
			w := c.past.at(c.known)
			c.fail(w.Host().CopyFrom(c.truth))
			w.Host().SetTick(c.known)
		}
	}
	c.restyle()
}

// SetPlayer tells that someone else plays here from now on, or nobody: a player who begins to
// watch, or the reverse.
func (c *Client) SetPlayer(p world.Player) {
	if p == c.o.Player {
		return
	}
	c.o.Player = p
	if c.style != None {
		c.restyle()
	}
}

// restyle begins anew with what is predicted and what is interpolated.
func (c *Client) restyle() {
	c.tracks.clear()
	c.blends.clear()
	if !c.any {
		return
	}
	for i := range c.classes {
		for id := range c.truth.Host().Of(i) {
			c.track(c.latest, id, c.truth.Host().Entry(id), c.truth.Host().Image(id))
		}
	}
	c.stale = false
	c.outdated = c.outdated[:0]
	c.compare(true)
	c.repredict(c.past.now)
	c.stale, c.pairs = false, c.pairs[:0]
}

// Started says whether there is something to show.
func (c *Client) Started() bool { return c.any }

// Tick is the tick that the client is at: the present, as it predicts it.
func (c *Client) Tick() world.Tick { return c.past.now }

// Known is the tick of the newest snapshot.
func (c *Client) Known() world.Tick { return c.known }

// Receive takes all that has come to a receiver, in the right order.
func (c *Client) Receive(now time.Duration, r *replica.Receiver) {
	list := r.Events()
	for i := range list {
		c.Event(&list[i])
	}
	for s := r.Next(); s != nil; s = r.Next() {
		c.Snapshot(now, s)
	}
}

// Due says how many ticks the client should compute now, each with Next and Step: mostly one or
// none. After an interruption the ticks that no command was made for are computed here, with the
// last one repeated.
func (c *Client) Due(now time.Duration) int {
	if !c.any {
		return 0
	}
	const most = 4 // ticks for which it makes sense to ask for commands at once
	if c.style == None {
		target := c.lead.target(now)
		if target <= c.past.now {
			return 0
		}
		c.past.now = max(c.past.now, target-min(target, most))
		return int(target - c.past.now)
	}
	target := c.clock.Advance(now)
	if last := c.known + c.o.Keep - 2; target > last {
		if c.past.now < last {
			c.stats.Stalls++
		}
		target = last // nothing is heard; what could be predicted now would not be worth it
	}
	if target <= c.past.now {
		return 0
	}
	for target-c.past.now > most {
		c.Next()
		c.Step()
	}
	return int(target - c.past.now)
}

// Next gives the inputs of the next tick, for the player's command to be given to by world.Give. If
// none is, the last one is repeated without its edges.
func (c *Client) Next() *world.Inputs { return c.past.in(c.past.now + 1) }

// Step computes the next tick. What it spawns of local classes is there once, however often the
// tick is predicted again, and is found in the world that Show gives.
func (c *Client) Step() {
	if !c.any {
		return
	}
	if c.style != None {
		c.repredict(c.past.now)
	}
	t := c.past.now + 1
	in := c.past.in(t)
	if c.a != nil && c.o.Player != world.Nobody {
		c.past.keep(t, in, c.o.Player)
	}
	c.past.now = t
	if c.style == None {
		return
	}
	w := c.past.at(t)
	c.fail(w.Host().SetLocals(c.locals))
	c.aim(t)
	c.predict(t)
	c.aimed(w)
	c.fail(c.locals.Step(w))
	c.fail(w.Host().SetLocals(nil))
	c.notices.conclude()
	c.blends.tick(c.past.at(t))
	c.notices.deny(max(c.certain-min(c.certain, c.o.Patience),
		c.known-min(c.known, 4*c.o.Patience)))
	c.notices.forget(c.known - min(c.known, c.o.Keep+2*c.o.Patience))
}

// Commands gives the player's last commands, up to a number of them and the oldest first, and the
// tick of the newest: what replica.CommandWriter sends. The images are good until the next Step.
func (c *Client) Commands(most int) (newest world.Tick, images [][]int32) {
	return c.past.now, c.past.commands(most)
}

// Err is the first error that the game had while it was predicted, and forgets it. Prediction goes
// on all the same.
func (c *Client) Err() error {
	err := c.err
	c.err = nil
	return err
}

// Repredict predicts again what the last news made wrong, now rather than when Step or Show next
// need it: for programs with time to spare before a frame.
func (c *Client) Repredict() {
	if c.any && c.style != None {
		c.repredict(c.past.now)
	}
}
