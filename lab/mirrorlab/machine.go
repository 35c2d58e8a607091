package mirrorlab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// A cluster is several mirrors with their players, on a simulated network.
type cluster struct {
	*players
	machines []*machine
	commands session.Rings[followed]
	worlds   map[world.Tick]*firstWorld
	r        *Result // what was found so far

	// Of commands that leading worlds of other mirrors executed: those passed over, and all.
	passed, counted int
}

// A machine is one with a mirror.
type machine struct {
	*cluster
	index  int
	name   string
	inner  *netsim.Endpoint // between mirrors
	outer  *netsim.Endpoint // for players
	mirror *mirror.Mirror
	drift  float64       // of the machine's clock
	offset time.Duration // when the machine's clock began
	dead   bool

	began   time.Duration // when it was started
	serving time.Duration // since when it serves
	ended   error
	settled world.Tick
	news    []mirror.News
	polled  time.Duration

	log    execution
	repair repairs
	from   machineTotals
	wrong  time.Duration // the most that the clock was off
	sees   *lab.Audience
	spent  time.Duration // of the processor, on what a mirror does
}

func newCluster(ctx context.Context, o *Options, seed uint64) *cluster {
	return &cluster{
		players: newPlayers(ctx, o, seed), commands: session.Rings[followed]{},
		worlds: map[world.Tick]*firstWorld{}, r: new(Result)}
}

// start makes a machine and starts its mirror. The first founds the game.
func (f *cluster) start(name string, players int) *machine {
	i := len(f.machines)
	s := &machine{
		cluster: f, index: i, name: name, inner: f.Endpoint("m" + name),
		outer: f.Endpoint("s" + name), began: f.Net.Now(), sees: lab.NewAudience(f.Title)}
	random := f.Random
	s.drift = f.o.Drift * (2*random.Float64() - 1) / 1e6
	s.offset = time.Duration(random.Float64() * float64(10*time.Second))
	delays, err := kinds.DelaysOf(f.o.Timeline, f.o.Delays)
	f.Fail(err)
	o := mirror.Options{
		Server: f.options(players, 1, i), Link: s.inner, Address: s.inner.PublicAddr(),
		Public: s.outer.PublicAddr(), Name: name,
		Found: i == 0, Keys: []token.Key{f.Key}, Seed: f.seed(2, i), Wall: session.Wall,
		Timeline: f.o.Timeline, Delays: delays, Margins: f.o.Margins, SendEvery: f.o.SendEvery,
		Repair:  f.o.Repair,
		Settled: s.judged, News: s.hear, Step: f.o.Step, Copy: f.o.Copy,
	}
	o.Server.Links = []link.Link{s.outer}
	o.Server.Rules.Command = s.entered
	for _, other := range f.machines {
		f.Net.Connect(s.inner, other.inner, f.o.Between)
		o.Ask = append(o.Ask, other.inner.PublicAddr())
	}
	s.log.begin(len(f.Title.Game.Commands().Slots))
	if s.mirror, err = mirror.New(o); err != nil {
		f.Fail(err)
		return s
	}
	f.machines = append(f.machines, s)
	f.Net.After(0, s.drive)
	return s
}

// time is what the machine's clock says. It runs a little fast or slow, and began some time ago.
func (s *machine) time() time.Duration {
	now := s.Net.Now()
	return s.offset + now + time.Duration(float64(now)*s.drift)
}

// drive polls the mirror as often as it asks for, as mirror.Run does.
func (s *machine) drive() {
	if s.dead || s.ended != nil {
		return
	}
	now := s.time()
	before := s.mirror.TimelineStats()
	began := s.o.cpu()
	err := s.mirror.Poll(now)
	if s.On {
		s.spent += s.o.cpu() - began
	}
	if err != nil {
		s.ended = err
		if s.o.Fault == NoFault {
			s.Fail(fmt.Errorf("mirror %s: %w", s.name, err))
		}
		return
	}
	s.polled = s.Net.Now()
	if s.serving == 0 && s.mirror.Phase() == mirror.Serving {
		s.serving = s.Net.Now()
	}
	if s.mirror.Timeline() != nil {
		s.watch(before)
	}
	wait := time.Duration(float64(s.mirror.Deadline()-now) / (1 + s.drift))
	s.Net.After(max(wait, leastPoll)+timerLate, s.drive)
}

const (
	// leastPoll keeps a mirror that wants to be polled at once from stopping time.
	leastPoll = 200 * time.Microsecond
	// timerLate is by how much a machine's timers are late, as they always are a little.
	timerLate = 60 * time.Microsecond
)

// cpu is the processor time of the thread, if that is measured.
func (o *Options) cpu() time.Duration {
	if o.Clock == nil {
		return 0
	}
	return o.Clock()
}

// kill ends the machine without a word.
func (s *machine) kill() {
	s.dead = true
	_ = s.mirror.Close() // the endpoints are taken off the network
}

func (s *machine) hear(n mirror.News) {
	s.news = append(s.news, n)
	if n.Kind == mirror.Rejoining {
		s.settled = 0
		if s.o.Fault == NoFault {
			s.Fail(fmt.Errorf("mirror %s joins anew: %s", s.name, n.Text))
		}
	}
}

// alive lists the machines that run.
func (f *cluster) alive() (list []*machine) {
	for _, s := range f.machines {
		if !s.dead && s.ended == nil {
			list = append(list, s)
		}
	}
	return list
}

// whole says whether all that run serve, in one group with one überserver.
func (f *cluster) whole() bool {
	list := f.alive()
	return !slices.ContainsFunc(list, func(s *machine) bool {
		m := s.mirror
		return m.Phase() != mirror.Serving || len(m.Members()) != len(list) ||
			m.Uber() != list[0].mirror.Uber()
	})
}

// assemble starts so many mirrors with so many players on each, and lets everyone come in.
func (f *cluster) assemble(mirrors, players, seats int) error {
	for i := range mirrors {
		f.start(machineName(i), seats)
		if i == 0 {
			_ = f.Pass(300*time.Millisecond, nil, "") // what fails here fails all that follows
		}
	}
	if f.Until(joinTime, "all mirrors serve", f.whole) == nil {
		for range players {
			for _, s := range f.machines {
				f.seat(s)
			}
		}
		_ = f.Until(joinTime, "all play", f.allPlay)
	}
	if f.Err != nil {
		return errors.Join(f.Err, f.state())
	}
	return nil
}

func machineName(i int) string { return string(rune('a' + i)) }

// seat makes a player of a machine. To the others it is as far as that machine is, and its own
// first mile.
func (f *cluster) seat(home *machine) {
	u := f.invite(home.index, home.outer.PublicAddr(), func(e *netsim.Endpoint) {
		for _, s := range f.machines {
			way := f.o.Near
			if s != home {
				way = behind(f.o.Near, f.o.Between)
			}
			f.Net.Connect(e, s.outer, way)
		}
	})
	u.gave, u.told, u.news = f.given, f.shownTo, f.heard
	u.back = func(u *guest, from, to world.Tick) bool {
		return f.machines[u.home].tookBack(u.Me, from, to)
	}
}

// state tells where the mirrors are, for errors.
func (f *cluster) state() error {
	var all []error
	for _, s := range f.machines {
		err := fmt.Errorf("mirror %s: %v, members %v, überserver %d, dead %v", s.name,
			s.mirror.Phase(), s.mirror.Members(), s.mirror.Uber(), s.dead)
		if s.ended != nil {
			err = fmt.Errorf("%w; %w", err, s.ended)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// close ends everything. Clients first, whose endpoints are their own.
func (f *cluster) close() {
	f.Close()
	for _, s := range f.machines {
		if !s.dead {
			_ = s.mirror.Close()
		}
	}
}
