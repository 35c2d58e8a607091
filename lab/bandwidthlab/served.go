package bandwidthlab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// served is a real server with real clients that bots play, on a simulated network.
type served struct {
	*session.Session
	shares *shares
	guests []*guest

	from    totals      // when measuring began
	inputs  [][][]int32 // of the time that is measured, by tick and guest: what the server took
	latency *pairs      // nil if it is not asked for
	late    int
	made    int
}

// guest is one client.
type guest struct {
	session.Guest
	run     *served
	image   []int32
	in, out uint64 // bytes when measuring began

	given    session.Ring[given]
	shown    world.Tick // the newest tick that it has been shown
	snapshot world.Tick // which bodies are counted for
	bodies   map[world.ID]world.Player
	seen     sightings
}

// sightings count who is in snapshots, and in view.
type sightings struct {
	Updates     int // snapshots counted
	Others, Own int // players in them
	Looks       int
	InView      int // other players
}

// given is a command that a guest gave.
type given struct {
	at    time.Duration
	image []int32
	taken bool // the world had it at its tick
}

// totals are what grows.
type totals struct {
	Link      link.Counters
	Classes   []float64 // bits of each class, and of commands that are relayed
	Near      float64   // bytes of events and their like
	Snapshots uint64
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

func newServed(ctx context.Context, o servedOptions) *served {
	r := &served{
		Session: session.New(ctx, o.title, o.seed, fmt.Sprintf("%d clients, ", o.players)),
		shares:  newShares(o.title), latency: o.latency}
	so := r.Server(o.players, r.Random.Seed())
	so.Spectators, so.SnapshotRate, so.After = -1, snapshotRate, r.after
	r.Serve(so)
	for i := range o.players {
		u := &guest{
			run: r, image: make([]int32, len(o.title.Game.Commands().Slots)),
			bodies: map[world.ID]world.Player{}}
		r.guests = append(r.guests, u)
		r.Join(&u.Guest, session.Seat{
			Name: fmt.Sprint("player ", i+1), To: r.End.PublicAddr(), Seed: r.Random.Seed,
			Frame:  u.frame,
			Offset: session.Offset(o.title.Game.TickLength(), i, o.players),
			Connect: func(e *netsim.Endpoint) {
				r.Net.SetPath(e, r.End, netsim.Profile{Latency: o.up(i)})
				r.Net.SetPath(r.End, e, netsim.Profile{Latency: o.down(i)})
			},
			Client: client.Options{Style: predict.None, Return: -1, Tap: tap{u}},
		})
	}
	r.Drive()
	return r
}

// frame is what a player's program does at each tick of its own.
func (u *guest) frame() {
	if v := u.Client.Frame(u.Net.Now(), u.Command); v.Ended {
		u.Fail(v.Err)
	}
}

// A tap watches what comes to a guest's client, and what it makes.
type tap struct{ u *guest }

func (t tap) Snapshot(s *replica.Snapshot)           { t.u.look(s) }
func (t tap) Command(tick world.Tick, image []int32) { t.u.gave(tick, image) }

// play lets everyone come in, plays for a while, and then measures.
func (r *served) play(warm, measured time.Duration) error {
	if err := r.Play(warm, measured, r.begin, nil, ""); err != nil {
		return err
	}
	return lab.Account(r.Host.Ledger(), r.Host.Counters())
}

func (r *served) begin() {
	for _, u := range r.guests {
		if u.Client.Phase() != client.Playing || u.Client.Stats().Snapshots == 0 {
			r.Fail(fmt.Errorf("%s never came into the game; its client is %v", u.End.Name(),
				u.Client.Phase()))
			return
		}
		c := u.End.Counters()
		u.in, u.out = c.ReceivedBytes, c.SentBytes
		u.snapshot, u.seen = 0, sightings{}
	}
	r.from = r.totals()
}

// totals adds up what the server sent so far.
func (r *served) totals() totals {
	stats := r.Host.Stats()
	t := totals{
		Link: r.Host.Counters(), Near: stats.Replica.Events/8 + float64(stats.Replica.Messages),
		Snapshots: stats.Snapshots}
	for _, c := range stats.Replica.Classes {
		t.Classes = append(t.Classes, c.Bits)
	}
	return t
}

// divide gives the bytes by variable. What is neither d nor e is c: also headers, tags and
// acknowledgements.
func (t *totals) divide(x *shares) (c, d, e float64) {
	for i, bits := range t.Classes {
		switch x.share(i) {
		case shareD:
			d += bits / 8
		case shareE:
			e += bits / 8
		}
	}
	e += t.Near
	return float64(t.Link.SentBytes) - d - e, d, e
}

// gave remembers a command and when it was given.
func (u *guest) gave(t world.Tick, image []int32) {
	g := u.given.Put(t)
	g.at, g.taken = u.Net.Now(), false
	g.image = append(g.image[:0], image...)
}

// after is told what went into each tick of the server's world.
func (r *served) after(w *world.World, in *world.Inputs) {
	r.shares.watch(w)
	if !r.On {
		return
	}
	row := make([][]int32, len(r.guests))
	for _, p := range in.Players() {
		seat := r.Host.SeatOf(p)
		if seat == nil || seat.Client == 0 || int(seat.Client) > len(r.guests) {
			continue
		}
		u := r.guests[seat.Client-1]
		if !in.Image(p, u.image) {
			continue
		}
		row[u.Index] = slices.Clone(u.image)
		if g := u.given.At(w.Tick()); g != nil && slices.Equal(g.image, u.image) {
			g.taken = true
		}
	}
	for _, u := range r.guests {
		if g := u.given.At(w.Tick()); g != nil {
			if r.made++; !g.taken {
				r.late++
			}
		}
	}
	r.inputs = append(r.inputs, row)
}

// look is given each packet of a snapshot: it counts who is in it, and notes whose commands it
// shows.
func (u *guest) look(s *replica.Snapshot) {
	if !u.On {
		u.shown = max(u.shown, s.Tick)
		return
	}
	if s.Tick != u.snapshot {
		u.count()
		u.snapshot = s.Tick
	}
	for _, up := range s.Updates {
		if up.What == replica.Held && up.ID.Class() == u.Body {
			u.bodies[up.ID] = up.Entry.Owner
		}
	}
	if p := u.run.latency; p != nil {
		for t := u.shown + 1; t <= s.Tick && u.shown > 0; t++ {
			for _, o := range u.run.guests {
				if g := o.given.At(t); o != u && g != nil && g.taken {
					p.add(o.Index, u.Index, u.Net.Now()-g.at)
				}
			}
		}
	}
	u.shown = max(u.shown, s.Tick)
}

// count takes in the snapshot that is complete now.
func (u *guest) count() {
	if u.snapshot != 0 {
		u.seen.Updates++
		me := u.Client.Player()
		for _, p := range u.bodies {
			if p == me {
				u.seen.Own++
			} else {
				u.seen.Others++
			}
		}
		if v := u.Client.Truth(); v != nil {
			u.seen.Looks++
			for id := range v.Host().Of(u.Body) {
				if v.Owner(id) != me {
					u.seen.InView++
				}
			}
		}
	}
	clear(u.bodies)
}

// counted is what a run with so many clients came to. Rates are in kbit/s.
func (r *served) counted() ServedRow {
	n, seconds := len(r.guests), (r.Net.Now() - r.Since).Seconds()
	rate := func(bytes float64) float64 { return bytes * 8 / 1000 / seconds }
	now := r.totals()
	t := lab.Less(now, r.from)
	row := ServedRow{
		Clients: n, Seconds: seconds,
		ServerIn: rate(float64(t.Link.ReceivedBytes)), ServerOut: rate(float64(t.Link.SentBytes)),
		PacketsIn: float64(t.Link.Received) / seconds, PacketsOut: float64(t.Link.Sent) / seconds,
		Snapshots: float64(t.Snapshots) / seconds / float64(n), Late: lab.Per(r.late, r.made),
	}
	var all sightings
	for _, u := range r.guests {
		c := u.End.Counters()
		in, out := rate(float64(c.ReceivedBytes-u.in)), rate(float64(c.SentBytes-u.out))
		row.Command += out / float64(n)
		row.Update += in / float64(n)
		if u.Index == 0 || in < row.UpdateLeast {
			row.UpdateLeast = in
		}
		row.UpdateMost = max(row.UpdateMost, in)
		row.Clientwise = append(row.Clientwise, [2]float64{out, in})
		all = lab.Sum(all, u.seen)
	}
	each := func(bytes float64) float64 { return rate(bytes) / float64(n) }
	c, d, e := now.divide(r.shares)
	c0, d0, e0 := r.from.divide(r.shares)
	row.C, row.DPart, row.EPart = each(c-c0), each(d-d0), each(e-e0)
	row.D = row.DPart / float64(n)
	if bodies := lab.Per(all.Others+all.Own, all.Updates); bodies > 0 {
		row.E = row.EPart / bodies
	}
	if n > 1 {
		row.Alpha = lab.Per(all.Others, all.Updates) / float64(n-1)
		row.InView = lab.Per(all.InView, all.Looks) / float64(n-1)
	}
	return row
}
