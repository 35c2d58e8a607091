package bandwidthlab

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// served is a real server with real clients that bots play, on a simulated network.
type served struct {
	title  *lab.Subject
	shares *shares
	body   int
	net    *netsim.Net
	end    *netsim.Endpoint
	server *server.Server
	guests []*guest
	err    error

	on      bool          // it is being measured
	since   time.Duration // from when
	from    totals
	inputs  [][][]int32 // of the time that is measured, by tick and guest: what the server took
	latency *pairs      // nil if it is not asked for
	late    int
	made    int
}

// guest is one client.
type guest struct {
	run     *served
	index   int
	end     *netsim.Endpoint
	client  *client.Client
	bot     game.Bot
	image   []int32
	in, out uint64 // bytes when measuring began

	given    [rememberTicks]given
	shown    world.Tick // the newest tick that it has been shown
	snapshot world.Tick // which bodies are counted for
	bodies   map[world.ID]world.Player
	updates  int // snapshots counted
	others   int // other players in them
	own      int
	inView   int
	looks    int
}

// rememberTicks is for how many ticks it is remembered what clients gave: longer than any is ahead.
const rememberTicks = 512

// given is a command that a guest gave.
type given struct {
	tick  world.Tick
	at    time.Duration
	image []int32
	taken bool // the world had it at its tick
}

// totals are what grows.
type totals struct {
	in, out         uint64 // bytes at the server's link
	inPk, outPk     uint64
	classes         []float64 // bits of each class, and of commands that are relayed
	near            float64   // bytes of events and their like
	snapshots       uint64
	ledger, counter uint64
}

// servedOptions say what to run.
type servedOptions struct {
	title   *lab.Subject
	players int
	seed    uint64
	up      func(i int) time.Duration // from client to server, and back
	down    func(i int) time.Duration
	latency *pairs
}

// wall is the time of day in simulated networks.
const wall = 1_700_000_000

// entropy makes keys and tokens that are the same in each run.
type entropy struct{ r *netsim.Rand }

func (e entropy) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e.r.Uint64())
	}
	return len(b), nil
}

func (e entropy) seed() (s [32]byte) {
	_, _ = e.Read(s[:]) // it never fails
	return s
}

func newServed(o servedOptions) (*served, error) {
	n := netsim.New(netsim.Options{Seed: o.seed})
	r := &served{title: o.title, shares: newShares(o.title), body: o.title.BodyClass(), net: n, end: n.Endpoint("server"), latency: o.latency}
	r.end.SetInbox(1 << 16)
	random := entropy{n.Rand()}
	var key token.Key
	_, _ = random.Read(key[:])
	so := server.Options{
		Title: o.title.Title, Level: o.title.On(o.seed + 1),
		Links: []link.Link{r.end}, Keys: []token.Key{key}, Players: o.players, Spectators: -1, SnapshotRate: snapshotRate, Workers: 1, After: r.after,
	}
	so.Conn.Seed, so.Conn.Wall = random.seed(), wall
	var err error
	if r.server, err = server.New(so); err != nil {
		return nil, err
	}
	for i := range o.players {
		t, err := token.Issue(key, token.Grant{
			Protocol: token.ProtocolID(o.title.Name()), Client: uint64(i + 1), Expires: wall + 3600, Servers: []netip.AddrPort{r.end.PublicAddr()},
		}, random)
		if err != nil {
			r.close()
			return nil, err
		}
		if err := r.join(i, &o, t, random); err != nil {
			r.close()
			return nil, err
		}
	}
	r.drive()
	return r, nil
}

// drive lets the server tick, and look for datagrams in between as Run does.
func (r *served) drive() {
	tick, polls, turn := r.title.Game.TickLength(), 4, 0
	r.end.Every(tick/time.Duration(polls), func() {
		if turn++; turn%polls == 0 {
			r.fail(r.server.Tick(r.net.Now()))
		} else {
			r.fail(r.server.Receive(r.net.Now()))
		}
	})
}

// join adds a client, whose frames are in step with no one else's.
func (r *served) join(i int, so *servedOptions, t token.Token, random entropy) error {
	g := r.title.Game
	u := &guest{run: r, index: i, end: r.net.Endpoint(fmt.Sprint("player ", i+1)), image: make([]int32, len(g.Commands().Slots)), bodies: map[world.ID]world.Player{}}
	r.guests = append(r.guests, u)
	r.net.SetPath(u.end, r.end, netsim.Profile{Latency: so.up(i)})
	r.net.SetPath(r.end, u.end, netsim.Profile{Latency: so.down(i)})
	u.bot = r.title.NewBot(so.seed*1000 + uint64(i))
	o := client.Options{
		Title: r.title.Title, Style: predict.None, Link: u.end, Token: t, Name: u.end.Name(),
		Return: -1, Tap: tap{u},
	}
	o.Conn.Seed = random.seed()
	var err error
	if u.client, err = client.New(o); err != nil {
		return err
	}
	tick := g.TickLength()
	u.end.After(frameOffset(tick, i, so.players), func() {
		u.end.Every(tick, u.frame)
	})
	return nil
}

// frame is what a player's program does at each tick of its own.
func (u *guest) frame() {
	if v := u.client.Frame(u.run.net.Now(), u.command); v.Ended {
		u.run.fail(v.Err)
	}
}

// command asks the bot, which is shown what its client was told last.
func (u *guest) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	u.run.fail(u.bot(shown, me, t, in))
}

// A tap watches what comes to a guest's client, and what it makes.
type tap struct{ u *guest }

func (t tap) Snapshot(s *replica.Snapshot)           { t.u.look(s) }
func (t tap) Command(tick world.Tick, image []int32) { t.u.gave(tick, image) }

// frameOffset is when in a tick a player's frames begin: all over it, so that no one is in step with a server or with others.
func frameOffset(tick time.Duration, i, n int) time.Duration {
	return tick * time.Duration(2*i+1) / time.Duration(2*n)
}

func (r *served) fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%d clients, seed %d, at %v: %w", len(r.guests), r.net.Seed(), r.net.Now(), err)
	}
}

func (r *served) close() {
	for _, u := range r.guests {
		if u.client != nil {
			_ = u.client.Close() // the network is no more
		}
	}
	_ = r.server.Close()
}

// run lets everyone come in, plays for a while, and then measures.
func (r *served) run(ctx context.Context, warm, measured time.Duration) error {
	end := warm + measured
	for r.net.Now() < end && r.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		limit := end
		if !r.on {
			limit = warm
		}
		r.net.Run(min(250*time.Millisecond, limit-r.net.Now()))
		if !r.on && r.net.Now() >= warm {
			r.begin()
		}
	}
	if r.err != nil {
		return r.err
	}
	if t := r.totals(); t.ledger != t.counter {
		return fmt.Errorf("the connections account for %d bytes, and the link has sent %d", t.ledger, t.counter)
	}
	return nil
}

func (r *served) begin() {
	for _, u := range r.guests {
		if u.client.Phase() != client.Playing || u.client.Stats().Snapshots == 0 {
			r.fail(fmt.Errorf("%s never came into the game; its client is %v", u.end.Name(), u.client.Phase()))
			return
		}
		c := u.end.Counters()
		u.in, u.out = c.ReceivedBytes, c.SentBytes
		u.snapshot, u.updates, u.others, u.own, u.inView, u.looks = 0, 0, 0, 0, 0, 0
	}
	r.on, r.since, r.from = true, r.net.Now(), r.totals()
}

// totals adds up what the server sent so far.
func (r *served) totals() (t totals) {
	counters, ledger := r.server.Counters(), r.server.Ledger()
	t.in, t.out, t.inPk, t.outPk = counters.ReceivedBytes, counters.SentBytes, counters.Received, counters.Sent
	t.ledger, t.counter = ledger.Total(), counters.SentBytes
	stats := r.server.Stats()
	t.snapshots = stats.Snapshots
	for _, c := range stats.Replica.Classes {
		t.classes = append(t.classes, c.Bits)
	}
	t.near = stats.Replica.Events/8 + float64(stats.Replica.Messages)
	return t
}

// divide gives the bytes by variable. What is neither d nor e is c: also headers, tags and
// acknowledgements.
func (t *totals) divide(x *shares) (c, d, e float64) {
	for i, bits := range t.classes {
		switch x.share(i) {
		case shareD:
			d += bits / 8
		case shareE:
			e += bits / 8
		}
	}
	e += t.near
	return float64(t.out) - d - e, d, e
}

// gave remembers a command and when it was given.
func (u *guest) gave(t world.Tick, image []int32) {
	g := &u.given[t%rememberTicks]
	g.tick, g.at, g.taken = t, u.run.net.Now(), false
	g.image = append(g.image[:0], image...)
}

// after is told what went into each tick of the server's world.
func (r *served) after(w *world.World, in *world.Inputs) {
	r.shares.watch(w)
	if !r.on {
		return
	}
	row := make([][]int32, len(r.guests))
	for _, p := range in.Players() {
		seat := r.server.SeatOf(p)
		if seat == nil || seat.Client == 0 || int(seat.Client) > len(r.guests) {
			continue
		}
		u := r.guests[seat.Client-1]
		if !in.Image(p, u.image) {
			continue
		}
		row[u.index] = slices.Clone(u.image)
		if g := &u.given[w.Tick()%rememberTicks]; g.tick == w.Tick() && slices.Equal(g.image, u.image) {
			g.taken = true
		}
	}
	for _, u := range r.guests {
		if g := &u.given[w.Tick()%rememberTicks]; g.tick == w.Tick() {
			if r.made++; !g.taken {
				r.late++
			}
		}
	}
	r.inputs = append(r.inputs, row)
}

// look is given each packet of a snapshot: it counts who is in it, and notes whose commands it shows.
func (u *guest) look(s *replica.Snapshot) {
	if !u.run.on {
		u.shown = max(u.shown, s.Tick)
		return
	}
	if s.Tick != u.snapshot {
		u.count()
		u.snapshot = s.Tick
	}
	for _, up := range s.Updates {
		if up.What == replica.Held && up.ID.Class() == u.run.body {
			u.bodies[up.ID] = up.Entry.Owner
		}
	}
	if p := u.run.latency; p != nil {
		for t := u.shown + 1; t <= s.Tick && u.shown > 0; t++ {
			for _, o := range u.run.guests {
				if g := &o.given[t%rememberTicks]; o != u && g.tick == t && g.taken {
					p.add(o.index, u.index, u.run.net.Now()-g.at)
				}
			}
		}
	}
	u.shown = max(u.shown, s.Tick)
}

// count takes in the snapshot that is complete now.
func (u *guest) count() {
	if u.snapshot != 0 {
		u.updates++
		me := u.client.Player()
		for _, p := range u.bodies {
			if p == me {
				u.own++
			} else {
				u.others++
			}
		}
		if v := u.client.Truth(); v != nil {
			u.looks++
			for id := range v.Host().Of(u.run.body) {
				if v.Owner(id) != me {
					u.inView++
				}
			}
		}
	}
	clear(u.bodies)
}

// counted is what a run with so many clients came to. Rates are in kbit/s.
func (r *served) counted() ServedRow {
	n, seconds := len(r.guests), (r.net.Now() - r.since).Seconds()
	rate := func(bytes float64) float64 { return bytes * 8 / 1000 / seconds }
	t := r.totals()
	row := ServedRow{
		Clients: n, Seconds: seconds,
		ServerIn: rate(float64(t.in - r.from.in)), ServerOut: rate(float64(t.out - r.from.out)),
		PacketsIn: float64(t.inPk-r.from.inPk) / seconds, PacketsOut: float64(t.outPk-r.from.outPk) / seconds,
		Snapshots: float64(t.snapshots-r.from.snapshots) / seconds / float64(n),
		Late:      float64(r.late) / float64(max(r.made, 1)),
	}
	var updates, others, own, inView, looks int
	for _, u := range r.guests {
		c := u.end.Counters()
		in, out := rate(float64(c.ReceivedBytes-u.in)), rate(float64(c.SentBytes-u.out))
		row.Command += out / float64(n)
		row.Update += in / float64(n)
		if u.index == 0 || in < row.UpdateLeast {
			row.UpdateLeast = in
		}
		row.UpdateMost = max(row.UpdateMost, in)
		row.Clientwise = append(row.Clientwise, [2]float64{out, in})
		updates, others, own = updates+u.updates, others+u.others, own+u.own
		inView, looks = inView+u.inView, looks+u.looks
	}
	each := func(bytes float64) float64 { return rate(bytes) / float64(n) }
	c, d, e := t.divide(r.shares)
	c0, d0, e0 := r.from.divide(r.shares)
	row.C, row.DPart, row.EPart = each(c-c0), each(d-d0), each(e-e0)
	row.D = row.DPart / float64(n)
	if bodies := float64(others+own) / float64(max(updates, 1)); bodies > 0 {
		row.E = row.EPart / bodies
	}
	if n > 1 {
		row.Alpha = float64(others) / float64(max(updates, 1)) / float64(n-1)
		row.InView = float64(inView) / float64(max(looks, 1)) / float64(n-1)
	}
	return row
}
