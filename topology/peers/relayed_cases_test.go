package peers_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// starOf is a match of so many who all play.
func starOf(t testing.TB, seed uint64, players int, m peers.Match, path netsim.Conditions,
	change func(i int, o *peers.RelayedOptions)) *star {
	t.Helper()
	s := newStar(t, netsim.New(netsim.Options{Seed: seed}), m)
	s.path = path
	s.more(players, change)
	s.until("all play", 10*time.Second, s.allPlay)
	return s
}

// more has so many more sit down.
func (s *star) more(players int, change func(i int, o *peers.RelayedOptions)) {
	for range players {
		n := len(s.seats)
		s.sit(fmt.Sprint("p", n), func(o *peers.RelayedOptions) {
			if change != nil {
				change(n, o)
			}
		})
		if n == 0 {
			s.opens()
		}
	}
}

func (x *starSeat) heard(k peers.Kind) (list []peers.News) {
	for _, n := range x.news {
		if n.Kind == k {
			list = append(list, n)
		}
	}
	return list
}

// bodyOf is the body of a player.
func (x *starSeat) bodyOf(p world.Player) world.ID {
	id, _ := world.Owned[body](x.World(), p)
	return id
}

// Somebody who crashes comes back to the same body, with nothing but what was kept; the others
// never wait longer than the relay does.
func TestRelayedReturns(t *testing.T) {
	s := starOf(t, 3, 4, peers.Match{}, netsim.Cable, nil)
	x := s.seats[2]
	s.run(time.Second)
	player, body := x.Player(), x.bodyOf(x.Player())
	for _, o := range s.seats {
		o.stood = 0
	}
	x.crash()
	s.run(4 * time.Second)
	x.restart()
	s.until("it plays again", 5*time.Second, s.allPlay)
	s.goesOn(120, 5*time.Second)
	if x.Player() != player || x.bodyOf(player) != body || body == 0 {
		t.Errorf("it was player %d with body %v, and is %d with %v", player, body, x.Player(),
			x.bodyOf(x.Player()))
	}
	for _, o := range s.seats {
		if o != x && o.stood > 200*time.Millisecond {
			t.Errorf("%s stood still for %v", o.name, o.stood)
		}
	}
}

// Who is cut off from the relay for some seconds stops nobody for longer than the relay waits, and
// plays on afterwards, within a connection and beyond.
func TestRelayedCutOff(t *testing.T) {
	for _, cut := range []time.Duration{
		time.Second, 2500 * time.Millisecond, 8 * time.Second} {
		t.Run(cut.String(), func(t *testing.T) {
			s := starOf(t, 4, 3, peers.Match{}, netsim.Cable,
				func(i int, o *peers.RelayedOptions) {
					if i == 1 {
						o.Style = peers.Lockstep()
					}
				})
			x := s.seats[2]
			s.run(time.Second)
			player, body := x.Player(), x.bodyOf(x.Player())
			for _, o := range s.seats {
				o.stood = 0
			}
			s.net.Cut(x.end, s.at)
			s.run(cut)
			s.net.Heal(x.end, s.at)
			s.until("it plays again", 5*time.Second, func() bool {
				return s.allPlay() && x.Copy().Known()+30 > s.seats[0].Copy().Known()
			})
			s.goesOn(120, 5*time.Second)
			if x.Player() != player || x.bodyOf(player) != body {
				t.Errorf("it was player %d with body %v, and is %d with %v", player, body,
					x.Player(), x.bodyOf(player))
			}
			for _, o := range s.seats[:2] {
				if o.stood > 200*time.Millisecond {
					t.Errorf("%s stood still for %v", o.name, o.stood)
				}
			}
			if again := x.Stats().Returns; (again > 0) != (cut > 5*time.Second) {
				t.Errorf("it connected anew %d times", again)
			}
		})
	}
}

// stone is something large that is in a world.
type stone struct{ Text string }

func (x *stone) Sync(s *bits.Sync) { s.String(&x.Text, 8000) }

// quarry makes the world large, once all are there.
type quarry struct{ Done bool }

func (x *quarry) Sync(s *bits.Sync) { s.Bool(&x.Done) }

func (x *quarry) Step(w *world.World, _ world.ID) {
	if w.Tick() < 120 || x.Done {
		return
	}
	x.Done = true
	for i := range 176 {
		world.Spawn(w, stone{strings.Repeat(fmt.Sprintf("%04x", i*77), 1024)})
	}
}

var heavy = world.Define("heavy", world.Class[body](), world.Class[stone](),
	world.Class[quarry](), world.Commands[walk](),
	world.OnStart(func(w *world.World) { world.Spawn(w, quarry{}) }),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, body{X: int32(p)}), p)
	}))

// A world of a megabyte is sent in the background: who joins a match of eight at a hundred
// milliseconds plays within three seconds, and no tick of the others waits for it.
func TestRelayedJoinsLate(t *testing.T) {
	ways := []time.Duration{50 * time.Millisecond, 25 * time.Millisecond}
	if os.Getenv("COEVAL_SOAK") == "" {
		ways = ways[:1]
	}
	for _, way := range ways {
		s := newStar(t, netsim.New(netsim.Options{Seed: 5}), peers.Match{Start: 7, Every: 120})
		s.game = heavy
		s.path = netsim.Both(netsim.Profile{Latency: way})
		lockstep := func(_ int, o *peers.RelayedOptions) { o.Style = peers.Lockstep() }
		s.more(7, lockstep)
		s.until("seven play", 10*time.Second, s.allPlay)
		s.run(3 * time.Second)
		size := len(s.seats[0].World().Host().Save(nil))
		for _, x := range s.seats {
			x.stood = 0
		}
		s.more(1, lockstep)
		took := s.until("the eighth plays", 10*time.Second, s.allPlay)
		t.Logf("%v to the relay and back, a world of %d bytes: it plays after %v", 2*way, size,
			took)
		if took > 3*time.Second || size < 1<<20 {
			t.Errorf("a world of %d bytes took %v", size, took)
		}
		s.run(time.Second)
		for _, x := range s.seats[:7] {
			if x.stood > 50*time.Millisecond {
				t.Errorf("%s stood still for %v", x.name, x.stood)
			}
		}
	}
}

// mountain is a world that is large from the beginning.
var mountain = world.Define("mountain", world.Class[body](), world.Class[stone](),
	world.Commands[walk](), world.OnStart(func(w *world.World) {
		for i := range 176 {
			world.Spawn(w, stone{strings.Repeat(fmt.Sprintf("%04x", i*77), 1024)})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, body{X: int32(p)}), p)
	}))

// A large world that one has and all others need at once is passed on by those who have got it: a
// relay carries only so much of one member.
func TestRelayedLargeStart(t *testing.T) {
	s := newStar(t, netsim.New(netsim.Options{Seed: 31}), peers.Match{Start: 6})
	s.game, s.path = mountain, netsim.Cable
	s.more(6, nil)
	t.Log(s.until("all play", 30*time.Second, s.allPlay))
}

// Whose world comes to be another takes over that of the others, and all are told in which field of
// what it differed.
func TestRelayedRepairs(t *testing.T) {
	s := starOf(t, 6, 3, peers.Match{}, netsim.LAN, func(_ int, o *peers.RelayedOptions) {
		o.Style = peers.Lockstep()
	})
	x := s.seats[1]
	s.run(time.Second)
	x.lies = true
	_, b := world.Owned[body](x.World(), 1)
	b.Shots += 7
	s.until("it is repaired", 5*time.Second, func() bool { return x.Stats().Repaired > 0 })
	s.run(time.Second) // what was marked before is gone
	x.lies, x.marked = false, x.Copy().Settled()
	s.goesOn(180, 5*time.Second)
	told := x.heard(peers.Repaired)[0]
	text := told.Text
	t.Log(text)
	mine, err := rules.Load(told.Mine)
	theirs, wrong := rules.Load(told.Theirs)
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	if d := world.Differ(mine, theirs); d == nil || d.String() != text || mine.Tick() != told.Tick {
		t.Errorf("of the worlds that are told %v", d)
	}
	if !strings.Contains(text, "Shots") || !strings.Contains(text, "body") {
		t.Errorf("it says %q", text)
	}
	for _, o := range s.seats {
		if o != x && !slices.ContainsFunc(o.heard(peers.Differs),
			func(n peers.News) bool { return n.Text == text && n.Member == x.ID() }) {
			t.Errorf("%s was not told: %v", o.name, o.heard(peers.Differs))
		}
		if o != x && o.Stats().Repaired > 0 {
			t.Errorf("%s has given up its world", o.name)
		}
	}
	if n := x.Stats().Repaired; n != 1 {
		t.Errorf("it was repaired %d times", n)
	}
}

// Whose world is another again and again is named; and where the game wants it so, the match ends.
func TestRelayedDiffersAgain(t *testing.T) {
	lie := func(s *star) {
		x := s.seats[2]
		x.lies = true
		x.end.Every(time.Second/20, func() {
			_, b := world.Owned[body](x.World(), 1)
			b.Shots++
		})
	}
	lockstep := func(_ int, o *peers.RelayedOptions) { o.Style = peers.Lockstep() }
	s := starOf(t, 7, 3, peers.Match{Every: 20}, netsim.LAN, lockstep)
	lie(s)
	s.until("it is named", 10*time.Second, func() bool {
		return slices.ContainsFunc(s.seats[0].heard(peers.Differs), func(n peers.News) bool {
			return strings.Contains(n.Text, "p2: its world is another again and again")
		})
	})
	s = starOf(t, 8, 3, peers.Match{Every: 20, End: true}, netsim.LAN, lockstep)
	lie(s)
	s.net.RunUntil(5*time.Second, func() bool { return s.failed != nil })
	if !errors.Is(s.failed, peers.ErrApart) {
		t.Errorf("the match ended with %v", s.failed)
	}
}

// With rollback at eighty milliseconds own commands are shown after two ticks; without it after as
// many as the way takes. It can change while all play.
func TestRelayedStyles(t *testing.T) {
	delays := map[int]int{}
	path := netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond})
	s := starOf(t, 9, 2, peers.Match{Start: 2}, path, func(i int, o *peers.RelayedOptions) {
		input := o.Input
		o.Input = func(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			if i == 1 {
				delays[int(t-w.Tick())]++
			}
			input(w, me, t, in)
		}
	})
	x := s.seats[1]
	s.run(3 * time.Second)
	measure := func(what string) (most int, waits uint64) {
		clear(delays)
		before := x.Stats()
		s.run(5 * time.Second)
		after := x.Stats()
		for d := range delays {
			most = max(most, d)
		}
		t.Logf("%s: shown after %v ticks (how often); %d waits of %v in all", what, delays,
			after.Waits-before.Waits, after.Waited-before.Waited)
		return most, after.Waits - before.Waits
	}
	if most, waits := measure("rollback"); most > 2 || waits > 0 {
		t.Errorf("after %d ticks with rollback, and %d waits", most, waits)
	}
	if err := x.SetStyle(peers.Lockstep()); err != nil {
		t.Fatal(err)
	}
	s.run(2 * time.Second)
	if most, waits := measure("lock step"); most < 5 || most > 9 || waits > 6 {
		t.Errorf("after %d ticks with lock step, and %d waits", most, waits)
	}
	returns := x.Copy().Stats().Returns
	if err := x.SetStyle(peers.Style{Depth: 12, Delay: 0}); err != nil {
		t.Fatal(err)
	}
	s.run(2 * time.Second)
	if most, waits := measure("rollback without delay"); most > 1 || waits > 0 {
		t.Errorf("after %d ticks, and %d waits", most, waits)
	}
	if x.Copy().Stats().Returns == returns {
		t.Error("nothing was ever guessed")
	}
}

// Those who watch see what was as long ago as they asked for, and cost the players nothing.
func TestRelayedWatch(t *testing.T) {
	s := starOf(t, 10, 3, peers.Match{}, netsim.Cable, nil)
	s.run(2 * time.Second)
	for i := range 3 {
		s.sit(fmt.Sprint("w", i), func(o *peers.RelayedOptions) {
			o.Watch, o.Behind = true, time.Duration(i)*3*time.Second
		})
	}
	s.until("all watch", 10*time.Second, s.allPlay)
	s.run(10 * time.Second)
	for i, x := range s.seats[3:] {
		behind := int(s.seats[0].Copy().Known()) - int(x.Copy().Shown())
		t.Logf("%v: %d ticks behind", x.opt.Behind, behind)
		if want := i * 180; behind < want || behind > want+24 {
			t.Errorf("%s is %d ticks behind, and wants %d", x.name, behind, want)
		}
		if x.Stats().Compared == 0 || x.Player() != world.Nobody {
			t.Errorf("%s: %+v", x.name, x.Stats())
		}
	}
}

// Others are refused, with a reason.
func TestRelayedRefused(t *testing.T) {
	s := starOf(t, 11, 2, peers.Match{Seats: 2}, netsim.LAN, nil)
	for _, c := range []struct {
		text   string
		change func(o *peers.RelayedOptions)
	}{
		{"all 2 seats", nil},
		{"plays \"walkers", func(o *peers.RelayedOptions) { o.Game = heavy }},
		{"no match with this code", func(o *peers.RelayedOptions) {
			o.Code, _ = relay.ParseCode("2222-2222")
		}},
	} {
		s.sit("x"+c.text, c.change)
		s.net.RunUntil(5*time.Second, func() bool { return s.failed != nil })
		var refused *peers.RefusedError
		if !errors.As(s.failed, &refused) || !strings.Contains(s.failed.Error(), c.text) {
			t.Errorf("%v, not %s", s.failed, c.text)
		}
		s.seats[len(s.seats)-1].timer.Stop()
		s.seats, s.failed = s.seats[:len(s.seats)-1], nil
	}
	s.goesOn(60, 5*time.Second)
	if s.seats[1].Leave(); s.until("it has left", 5*time.Second, func() bool {
		return s.seats[1].Phase() == peers.Ended && len(s.seats[0].heard(peers.Left)) > 0
	}) < 0 {
		t.Fail()
	}
	if s.seats[1].Err() != nil {
		t.Error(s.seats[1].Err())
	}
}

// Somebody who sends nonsense to all of them, and commands that are none, is counted and stops
// nobody: the worlds stay the same.
func TestRelayedHostile(t *testing.T) {
	s := starOf(t, 13, 3, peers.Match{}, netsim.Cable, nil)
	tok, err := s.token()
	if err != nil {
		t.Fatal(err)
	}
	o := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{s.at.PublicAddr()}}
	o.Wall, o.Seed = relayWall, s.seed("hostile")
	c, err := relay.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	game := fmt.Sprintf("%s %016x", rules.Name(), rules.Hash())
	if err := c.Join(s.seats[0].Code(), game, relay.Rows, [relay.SecretSize]byte{},
		relay.Entry{Name: "mallory", Key: make([]byte, 64)}); err != nil {
		t.Fatal(err)
	}
	at, batch := s.net.Endpoint("mallory"), make([]link.Datagram, 64)
	s.net.Connect(at, s.at, s.path)
	r := s.net.Rand()
	noise := func(first byte, most int) []byte {
		b := []byte{first}
		for range r.Uint64() % uint64(most) {
			b = append(b, byte(r.Uint64()))
		}
		return b
	}
	at.Every(time.Second/60, func() {
		n, _ := at.Receive(batch)
		c.Receive(s.net.Now(), batch[:n])
		c.Events()
		for _, ok := c.NextRow(); ok; _, ok = c.NextRow() {
		}
		if _, err := c.Submit(noise(0, 20)[1:]); err == nil {
			_ = c.Ready()
		}
		if r.Uint64()%8 == 0 {
			_ = c.Word(noise(byte(r.Uint64()%4), 30))
		}
		for id := range member.ID(6) {
			_ = c.Carry(id+1, noise(byte(0x60+r.Uint64()%3), 200))
		}
		link.SendAll(at, c.Flush(s.net.Now(), nil))
	})
	s.run(4 * time.Second)
	s.goesOn(120, 5*time.Second)
	for _, x := range s.seats {
		if st := x.Stats(); st.Refused < 50 || st.Malformed < 50 || st.Repaired > 0 ||
			st.Compared < 3 {
			t.Errorf("%s: %+v", x.name, st)
		}
		if x.stood > 300*time.Millisecond {
			t.Errorf("%s stood still for %v", x.name, x.stood)
		}
	}
}

// TestRelayedBytes measures what a match of eight arena bots takes at the relay, with all headers.
func TestRelayedBytes(t *testing.T) {
	losses := []float64{0, 0.03, 0.2}
	if os.Getenv("COEVAL_SOAK") == "" {
		losses = losses[:1]
	}
	for _, loss := range losses {
		s := arenaStar(t, netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond, Loss: loss}))
		before, stats := s.at.Counters(), s.relay.Stats()
		const d = 3
		s.run(d * time.Second)
		after, then := s.at.Counters(), s.relay.Stats()
		const headers = 28
		out := (after.SentBytes - before.SentBytes + headers*(after.Sent-before.Sent)) / d
		in := (after.ReceivedBytes - before.ReceivedBytes +
			headers*(after.Received-before.Received)) / d
		t.Logf("8 at 60, %.0f %% lost: %d bytes a second out, %d in; %d packets out, %d bytes of "+
			"rows and %d rows in them, %d bytes of items in", 100*loss, out, in,
			(after.Sent-before.Sent)/d, (then.RowBytes-stats.RowBytes)/d,
			(then.RowsSent-stats.RowsSent)/d, (then.ItemIn-stats.ItemIn)/d)
		for _, x := range s.seats[:2] {
			t.Log(x.Relayed, x.Stats(), x.Copy().Stats())
		}
		if loss == 0 && (out > 45_000 || in > 30_000) {
			t.Errorf("%d bytes a second out and %d in, at most 45000 and 30000", out, in)
		}
	}
}

// arenaStar is a match of eight arena bots.
func arenaStar(t testing.TB, path netsim.Conditions) *star {
	s := newStar(t, netsim.New(netsim.Options{Seed: 12}), peers.Match{Start: 8})
	s.game = arena.Game
	s.first = func(m *peers.Match) (*world.World, error) {
		set, err := arena.Settings("foundry", arena.Options{Seed: m.Seed, Kills: -1, Time: -1})
		if err != nil {
			return nil, err
		}
		return s.game.New(set)
	}
	s.path = path
	s.more(8, func(i int, o *peers.RelayedOptions) {
		bot := arena.NewBot(uint64(i))
		o.World = s.first
		o.Input = func(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			_ = world.Give(in, me, bot.Think(w, me))
		}
		if i%2 == 1 {
			o.Style = peers.Lockstep()
		}
	})
	s.until("all play", 20*time.Second, s.allPlay)
	s.run(2 * time.Second)
	return s
}
