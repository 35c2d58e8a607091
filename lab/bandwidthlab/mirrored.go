package bandwidthlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// fleet is real mirrors with real clients that bots play, on a simulated network.
type fleet struct {
	*session.Session
	machines []*machine
	guests   []*session.Guest
	sizes    map[int]int // of packets between mirrors that are sent at first
}

// machine has one of the mirrors.
type machine struct {
	*fleet
	inner, outer *netsim.Endpoint // to other mirrors, and to clients
	mirror       *mirror.Mirror
	from         machineTotals
}

// machineTotals are what grows.
type machineTotals struct {
	Ledger       crimp.Ledger
	Inner, Outer link.Counters
}

// MirrorsOptions say what real mirrors to play on.
type MirrorsOptions struct {
	Title            *lab.Subject
	Clients, Mirrors int
	Seed             uint64
	Warm, Time       time.Duration
	// Path is what lies between any two machines. Default: that of bandwidth runs.
	Path netsim.Profile
}

// MirrorsRow is what real mirrors sent and received, kbit/s without headers of UDP and IP.
type MirrorsRow struct {
	Rates
	// By is what they sent each other, by what it was for.
	By map[string]float64 `json:"between_by_purpose"`
	// Sizes are how often a message of so many bytes was sent between them.
	Sizes map[int]int `json:"message_sizes"`
}

// Commands is the part of what mirrors send each other that is about commands: messages with what
// stands around them. The rest is what they need to agree: who has what, who is there, how far
// apart they are.
func (r *MirrorsRow) Commands() (sum float64) {
	for _, p := range []crimp.Purpose{crimp.SentHeader, crimp.SentProof, crimp.SentMessage} {
		sum += r.By[p.String()]
	}
	return sum
}

// What a mirror is taken to spend, so that a run repeats on any machine.
const (
	mirrorStep = 200 * time.Microsecond
	mirrorCopy = 20 * time.Microsecond
	// mirrorPoll keeps a mirror that wants to be polled at once from stopping time.
	mirrorPoll = 200 * time.Microsecond
	mirrorJoin = 30 * time.Second
	// dataKind is the first byte of a packet of package crimp that is sent at first.
	dataKind = 0x40
)

// PlayMirrors has bots play on real mirrors, each client on its own, and counts bytes.
func PlayMirrors(ctx context.Context, o MirrorsOptions) (*MirrorsRow, error) {
	if o.Path.String() == "" {
		o.Path.Latency = sweepDelay
	}
	f := &fleet{
		Session: session.New(ctx, o.Title, o.Seed,
			fmt.Sprintf("%d clients on %d mirrors, ", o.Clients, o.Mirrors)),
		sizes: map[int]int{}}
	defer f.close()
	for i := range o.Mirrors {
		f.open(&o, i)
	}
	_ = f.Until(mirrorJoin, "all mirrors serve", f.whole) // the error is kept in the session
	for i := range o.Clients {
		f.seat(&o, i)
	}
	_ = f.Until(mirrorJoin, "all play", f.allPlay)
	if f.Err != nil {
		return nil, f.Err
	}
	f.Net.SetTrace(f.watch)
	if err := f.Play(o.Warm, o.Time, f.begin, nil, ""); err != nil {
		return nil, err
	}
	return f.row(), nil
}

// open starts a mirror. The first founds the game.
func (f *fleet) open(o *MirrorsOptions, i int) {
	name := string(rune('a' + i))
	s := &machine{fleet: f, inner: f.Endpoint("m" + name), outer: f.Endpoint("s" + name)}
	so := f.Server(o.Clients, f.Random.Seed())
	so.Spectators, so.SnapshotRate, so.Links = -1, snapshotRate, []link.Link{s.outer}
	mo := mirror.Options{
		Server: so, Link: s.inner, Address: s.inner.PublicAddr(), Public: s.outer.PublicAddr(),
		Name: name, Found: i == 0, Keys: []token.Key{f.Key}, Seed: f.Random.Seed(),
		Wall: session.Wall, Step: mirrorStep, Copy: mirrorCopy,
	}
	for _, other := range f.machines {
		f.Net.Connect(s.inner, other.inner, netsim.Both(o.Path))
		mo.Ask = append(mo.Ask, other.inner.PublicAddr())
	}
	var err error
	if s.mirror, err = mirror.New(mo); err != nil {
		f.Fail(err)
		return
	}
	f.machines = append(f.machines, s)
	f.Net.After(time.Duration(i)*300*time.Millisecond, s.drive)
}

// drive polls the mirror as often as it asks for.
func (s *machine) drive() {
	now := s.Net.Now()
	if err := s.mirror.Poll(now); err != nil {
		s.Fail(fmt.Errorf("mirror %s: %w", s.inner.Name(), err))
		return
	}
	s.Net.After(max(s.mirror.Deadline()-now, mirrorPoll), s.drive)
}

// seat makes a client of its mirror. It is as far from the others.
func (f *fleet) seat(o *MirrorsOptions, i int) {
	if f.Err != nil {
		return
	}
	near := f.machines[home(i, o.Clients, o.Mirrors)]
	u := new(session.Guest)
	f.guests = append(f.guests, u)
	f.Join(u, session.Seat{
		Name: fmt.Sprint("player ", i+1), To: near.outer.PublicAddr(), Seed: f.Random.Seed,
		Offset: session.Offset(o.Title.Game.TickLength(), i, o.Clients),
		Connect: func(e *netsim.Endpoint) {
			for _, s := range f.machines {
				f.Net.Connect(e, s.outer, netsim.Both(o.Path))
			}
		},
		Frame: func() {
			if v := u.Client.Frame(u.Net.Now(), u.Command); v.Ended {
				u.Fail(v.Err)
			}
		},
		Client: client.Options{Style: predict.None, Return: -1},
	})
}

func (f *fleet) whole() bool {
	for _, s := range f.machines {
		if s.mirror.Phase() != mirror.Serving || len(s.mirror.Members()) != len(f.machines) {
			return false
		}
	}
	return true
}

func (f *fleet) allPlay() bool {
	for _, u := range f.guests {
		if u.Client.Phase() != client.Playing || u.Client.Stats().Snapshots == 0 {
			return false
		}
	}
	return true
}

// watch notes how large messages between mirrors are: those of packets that are sent at first.
func (f *fleet) watch(e netsim.Event) {
	if f.On && e.What == netsim.Sent && len(e.Data) > 0 && e.Data[0] == dataKind {
		f.sizes[len(e.Data)]++
	}
}

func (f *fleet) begin() {
	for _, s := range f.machines {
		s.from = s.totals()
	}
}

func (s *machine) totals() machineTotals {
	return machineTotals{s.mirror.Traffic(), s.inner.Counters(), s.outer.Counters()}
}

// row is what came of it.
func (f *fleet) row() *MirrorsRow {
	seconds, m, n := (f.Net.Now() - f.Since).Seconds(), float64(len(f.machines)),
		float64(len(f.guests))
	rate := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / seconds }
	r := &MirrorsRow{By: map[string]float64{}, Sizes: map[int]int{}}
	var all machineTotals
	for _, s := range f.machines {
		t := lab.Less(s.totals(), s.from)
		all = lab.Sum(all, t)
		r.ServerIn += rate(t.Outer.ReceivedBytes) / m
		r.ServerOut += rate(t.Outer.SentBytes) / m
		r.MirrorIn += rate(t.Inner.ReceivedBytes) / m
		r.MirrorOut += rate(t.Inner.SentBytes) / m
		for i, bytes := range t.Ledger.Sent {
			if bytes > 0 {
				r.By[crimp.Purpose(i).String()] += rate(bytes)
			}
		}
	}
	packets := 0
	for _, n := range f.sizes {
		packets += n
	}
	around := int(lab.Per(all.Ledger.Sent[crimp.SentHeader]+all.Ledger.Sent[crimp.SentProof],
		uint64(max(packets, 1))) + 0.5)
	for size, n := range f.sizes {
		r.Sizes[max(size-around, 1)] += n
	}
	r.Private, r.Public = r.MirrorOut*m, (r.ServerIn+r.ServerOut)*m
	r.ClientOut, r.ClientIn = r.ServerIn*m/n, r.ServerOut*m/n
	r.TotalClient = r.ClientIn + r.ClientOut
	r.TotalServer = r.ServerIn + r.ServerOut + r.MirrorIn + r.MirrorOut
	return r
}

func (f *fleet) close() {
	f.Close()
	for _, s := range f.machines {
		_ = s.mirror.Close()
	}
}
