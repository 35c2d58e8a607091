package session_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
)

// A match is played in the arena by bots, and the path of each is looked at in every frame.
type match struct {
	*session.Session
	guests []*session.Guest
	trips  []float64 // milliseconds
	ahead  []float64 // ticks
}

func newMatch(t *testing.T, c netsim.Conditions, players int, seed uint64) *match {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs in one goroutine")
	}
	g, err := lab.NewSubject(arena.Title, "", players)
	if err != nil {
		t.Fatal(err)
	}
	m := &match{Session: session.New(context.Background(), g, seed, c.Name+", ")}
	m.Serve(m.Server(players, m.Random.Seed()))
	t.Cleanup(m.Close)
	m.Drive()
	for i := range players {
		u := &session.Guest{}
		m.guests = append(m.guests, u)
		m.Join(u, session.Seat{
			Name: fmt.Sprint("player ", i+1), To: m.End.PublicAddr(), Seed: m.Random.Seed,
			Offset:  session.Offset(g.Game.TickLength(), i, players),
			Connect: func(e *netsim.Endpoint) { m.Net.Connect(e, m.End, c) },
			Client:  client.Options{Style: style()},
			Frame:   func() { m.frame(u) },
		})
	}
	return m
}

func (m *match) frame(u *session.Guest) {
	v := u.Client.Frame(m.Net.Now(), u.Command)
	if v.Began {
		u.Begun(v.Me)
	}
	if v.Ended {
		m.Fail(v.Err)
	}
	if c, p := u.Client.Conn(), u.Client.Predict(); c != nil && p != nil && p.Started() {
		m.trips = append(m.trips, float64(c.Quality().RoundTrip)/1e6)
		m.ahead = append(m.ahead, p.Ahead())
	}
}

// use changes everybody's path.
func (m *match) use(c netsim.Conditions) {
	for _, u := range m.guests {
		m.Net.Connect(u.End, m.End, c)
	}
}

// sight is what was seen in a time: medians and 95ths of a hundred over all frames of all players,
// shares of packets that found a queue full, and packets a second and player.
type sight struct {
	trip, tripMost, ahead, aheadMost    float64
	fullUp, fullDown, up, down, starved float64
}

func (s sight) String() string {
	return fmt.Sprintf("round trip %.0f ms, p95 %.0f; ahead %.1f ticks, p95 %.1f; queue full for "+
		"%.1f %% up, %.1f %% down; %.0f packets up, %.0f down; %.1f %% of turns starved", s.trip,
		s.tripMost, s.ahead, s.aheadMost, 100*s.fullUp, 100*s.fullDown, s.up, s.down, 100*s.starved)
}

func part(x []float64, p float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[int(float64(len(x)-1)*p)]
}

func (m *match) counts() (up, down netsim.Stats) {
	for _, u := range m.guests {
		up = up.Add(m.Net.Path(u.End, m.End).Stats())
		down = down.Add(m.Net.Path(m.End, u.End).Stats())
	}
	return up, down
}

// look lets time pass, and says what was seen.
func (m *match) look(d time.Duration) (s sight) {
	up, down := m.counts()
	before := m.Host.Stats()
	m.trips, m.ahead = m.trips[:0], m.ahead[:0]
	m.Net.Run(d)
	upNow, downNow := m.counts()
	now := m.Host.Stats()
	of := func(a, b netsim.Stats) (full, rate float64) {
		n := float64(b.Offered - a.Offered)
		return float64(b.Overflowed-a.Overflowed) / max(n, 1),
			n / d.Seconds() / float64(len(m.guests))
	}
	s.trip, s.tripMost = part(m.trips, 0.5), part(m.trips, 0.95)
	s.ahead, s.aheadMost = part(m.ahead, 0.5), part(m.ahead, 0.95)
	s.fullUp, s.up = of(up, upNow)
	s.fullDown, s.down = of(down, downNow)
	starved := float64(now.Starved - before.Starved)
	s.starved = starved / max(starved+float64(now.Snapshots-before.Snapshots), 1)
	return s
}

// queues is a carrier that queues and does not lose, as QUIC and TCP do.
func queues(c netsim.Conditions) netsim.Conditions {
	c.Name += " that queues"
	c.Up.Queue, c.Down.Queue, c.Up.Loss, c.Down.Loss = 1<<20, 1<<20, 0, 0
	return c
}

// wrapped is a network as a browser has it, where QUIC adds about 40 bytes to each packet.
func wrapped(c netsim.Conditions) netsim.Conditions {
	c.Name += " in QUIC"
	for _, p := range []*netsim.Profile{&c.Up, &c.Down} {
		p.Rate = p.Rate * 3 / 4
	}
	return c
}

// style is one that costs little, where there is no time for the one that predicts everything.
func style() predict.Style {
	if os.Getenv("COEVAL_SOAK") != "" {
		return predict.Doom3
	}
	return predict.Quake3
}

// soak is how long to look where there is time, and otherwise short.
func soak(short, long time.Duration) time.Duration {
	if os.Getenv("COEVAL_SOAK") != "" {
		return long
	}
	return short
}

// TestModem plays over a telephone line: from the fifth second on no queue stands on it, whatever
// lies between.
func TestModem(t *testing.T) {
	// What a round trip takes on an idle line: latency and half the jitter both ways, the airtime
	// of a packet of either end, and a frame and a tick that it waits for.
	for _, x := range []struct {
		c    netsim.Conditions
		idle float64 // milliseconds
	}{
		{netsim.Modem, 190}, {queues(netsim.Modem), 190}, {queues(wrapped(netsim.Modem)), 214},
	} {
		c, idle := x.c, x.idle
		t.Run(c.Name, func(t *testing.T) {
			m := newMatch(t, c, 3, 1)
			m.Net.Run(5 * time.Second)
			s := m.look(soak(5*time.Second, time.Minute))
			t.Log(s)
			if m.Err != nil {
				t.Fatal(m.Err)
			}
			if s.tripMost > 2.5*idle || s.fullUp > 0.03 || s.fullDown > 0.03 || s.aheadMost > 50 {
				t.Errorf("more is sent than the line takes: %v", s)
			}
			if s.up < 10 || s.down < 10 {
				t.Errorf("hardly anything is sent: %v", s)
			}
		})
	}
}

// TestModemAndBack changes from a good path to a modem and back: the modem does not collapse, and
// three seconds later all is as it was.
func TestModemAndBack(t *testing.T) {
	m := newMatch(t, netsim.Cable, 2, 2)
	m.Net.Run(4 * time.Second)
	before := m.look(2 * time.Second)
	m.use(queues(netsim.Modem))
	m.Net.Run(4 * time.Second)
	modem := m.look(soak(3*time.Second, time.Minute))
	m.use(netsim.Cable)
	m.Net.Run(3 * time.Second)
	after := m.look(2 * time.Second)
	t.Logf("cable: %v\nmodem: %v\ncable: %v", before, modem, after)
	if m.Err != nil {
		t.Fatal(m.Err)
	}
	if modem.tripMost > 475 || modem.aheadMost > 50 || modem.up < 10 || modem.down < 8 {
		t.Errorf("on the modem: %v", modem)
	}
	// While both players lie dead there is nothing to tell: snapshots are rare, and
	// acknowledgements go by themselves, which are more.
	if after.tripMost > before.tripMost+10 || after.ahead > min(before.ahead, 8)+3 ||
		after.up < 0.95*before.up || after.down < 0.95*min(before.down, 20) {
		t.Errorf("back on cable: %v, and before %v", after, before)
	}
}

// TestNotHeldBack: where there is no queue nothing is held back, whatever is lost.
func TestNotHeldBack(t *testing.T) {
	for _, c := range netsim.Presets() {
		if c.Name == "modem" || os.Getenv("COEVAL_SOAK") == "" && c.Name != "awful" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			m := newMatch(t, c, 2, 3)
			m.Net.Run(5 * time.Second)
			s := m.look(soak(5*time.Second, time.Minute))
			t.Log(s)
			if m.Err != nil {
				t.Fatal(m.Err)
			}
			if s.starved > 0.05 || s.up < 54 || s.down < 18 {
				t.Errorf("less is sent than the path takes: %v", s)
			}
		})
	}
}
