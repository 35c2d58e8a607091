package mirrorlab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// A fleet is several mirrors with their players, on a simulated network.
type fleet struct {
	*stage
	ships  []*ship
	orders map[world.Player]*[rememberTicks]order
	sight  sights
	worlds worlds

	settledDelay, leadingDelay tally
	clockError, clockBound     tally
	beyond                     int
	series                     []Moment
}

// A ship is a machine with a mirror.
type ship struct {
	*fleet
	index  int
	name   string
	hull   *netsim.Endpoint // between mirrors
	dock   *netsim.Endpoint // for players
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
	from   shipMark
	wrong  time.Duration // the most that the clock was off
}

func newFleet(o *Options, seed uint64) *fleet {
	return &fleet{
		stage: newStage(o, seed), orders: map[world.Player]*[rememberTicks]order{},
		worlds: newWorlds(),
	}
}

// launch makes a ship and starts its mirror. The first founds the game.
func (f *fleet) launch(name string, players int) (*ship, error) {
	i := len(f.ships)
	s := &ship{fleet: f, index: i, name: name, hull: f.net.Endpoint("m" + name), dock: f.net.Endpoint("s" + name), began: f.net.Now()}
	s.hull.SetInbox(1 << 16)
	s.dock.SetInbox(1 << 16)
	random := f.net.Rand()
	s.drift = f.o.Drift * (2*random.Float64() - 1) / 1e6
	s.offset = time.Duration(random.Float64() * float64(10*time.Second))
	delays, err := kinds.DelaysOf(f.o.Timeline, f.o.Delays)
	if err != nil {
		return nil, err
	}
	o := mirror.Options{
		Server: f.server(players, f.seed(1, i)), Link: s.hull, Address: s.hull.PublicAddr(), Public: s.dock.PublicAddr(), Name: name,
		Found: i == 0, Keys: []token.Key{f.key}, Seed: f.seed(2, i), Wall: wall,
		Timeline: f.o.Timeline, Delays: delays, Margins: f.o.Margins, SendEvery: f.o.SendEvery,
		Settled: s.judge, News: s.hear,
	}
	o.Server.Links = []link.Link{s.dock}
	o.Server.Rules.Command = s.entered
	for _, other := range f.ships {
		f.net.Connect(s.hull, other.hull, f.o.Between)
		o.Ask = append(o.Ask, other.hull.PublicAddr())
	}
	s.log.begin(len(f.g.Game.Commands().Slots))
	f.ships = append(f.ships, s)
	if s.mirror, err = mirror.New(o); err != nil {
		return nil, err
	}
	f.net.After(0, s.drive)
	return s, nil
}

// time is what the machine's clock says. It runs a little fast or slow, and began some time ago.
func (s *ship) time() time.Duration {
	now := s.net.Now()
	return s.offset + now + time.Duration(float64(now)*s.drift)
}

// drive polls the mirror as often as it asks for, as mirror.Run does.
func (s *ship) drive() {
	if s.dead || s.ended != nil {
		return
	}
	now := s.time()
	before := s.mirror.TimelineStats()
	if err := s.mirror.Poll(now); err != nil {
		s.ended = err
		if s.o.Fault == NoFault {
			s.fail(fmt.Errorf("mirror %s: %w", s.name, err))
		}
		return
	}
	s.polled = s.net.Now()
	if s.serving == 0 && s.mirror.Phase() == mirror.Serving {
		s.serving = s.net.Now()
	}
	if s.mirror.Timeline() != nil {
		s.watch(before)
	}
	wait := time.Duration(float64(s.mirror.Deadline()-now) / (1 + s.drift))
	s.net.After(max(wait, leastPoll)+timerLate, s.drive)
}

const (
	// leastPoll keeps a mirror that wants to be polled at once from stopping time.
	leastPoll = 200 * time.Microsecond
	// timerLate is by how much a machine's timers are late, as they always are a little.
	timerLate = 60 * time.Microsecond
)

// kill ends the machine without a word.
func (s *ship) kill() {
	s.dead = true
	_ = s.mirror.Close() // the endpoints are taken off the network
}

func (s *ship) hear(n mirror.News) {
	s.news = append(s.news, n)
	if n.Kind == mirror.Rejoining {
		s.settled = 0
		if s.o.Fault == NoFault {
			s.fail(fmt.Errorf("mirror %s joins anew: %s", s.name, n.Text))
		}
	}
}

// alive lists the ships that run.
func (f *fleet) alive() (list []*ship) {
	for _, s := range f.ships {
		if !s.dead && s.ended == nil {
			list = append(list, s)
		}
	}
	return list
}

// whole says whether all that run serve, in one group with one überserver.
func (f *fleet) whole() bool {
	list := f.alive()
	return !slices.ContainsFunc(list, func(s *ship) bool {
		m := s.mirror
		return m.Phase() != mirror.Serving || len(m.Members()) != len(list) || m.Uber() != list[0].mirror.Uber()
	})
}

// assemble starts so many mirrors with so many players on each, and lets everyone come in.
func (f *fleet) assemble(ctx context.Context, mirrors, players, seats int) error {
	for i := range mirrors {
		if _, err := f.launch(shipName(i), seats); err != nil {
			return err
		}
		if i == 0 {
			if err := f.pass(ctx, 300*time.Millisecond, nil); err != nil {
				return err
			}
		}
	}
	if err := f.until(ctx, joinTime, "all mirrors serve", f.whole); err != nil {
		return errors.Join(err, f.state())
	}
	for i := range players {
		for _, s := range f.ships {
			if err := f.crew(s); err != nil {
				return fmt.Errorf("player %d of mirror %s: %w", i+1, s.name, err)
			}
		}
	}
	if err := f.until(ctx, joinTime, "all play", f.allPlay); err != nil {
		return errors.Join(err, f.state())
	}
	return nil
}

func shipName(i int) string { return string(rune('a' + i)) }

// crew makes a player of a ship. To the others it is as far as that ship is, and its own first mile.
func (f *fleet) crew(home *ship) error {
	u, err := f.invite(home.index, home.dock.PublicAddr(), func(e *netsim.Endpoint) {
		for _, s := range f.ships {
			way := f.o.Near
			if s != home {
				way = behind(f.o.Near, f.o.Between)
			}
			f.net.Connect(e, s.dock, way)
		}
	})
	if err != nil {
		return err
	}
	u.gave, u.told, u.news = f.given, f.shownTo, f.heard
	u.back = func(u *guest, from, to world.Tick) bool { return f.ships[u.home].tookBack(u.me, from, to) }
	return nil
}

// state tells where the mirrors are, for errors.
func (f *fleet) state() error {
	var all []error
	for _, s := range f.ships {
		err := fmt.Errorf("mirror %s: %v, members %v, überserver %d, dead %v", s.name, s.mirror.Phase(), s.mirror.Members(), s.mirror.Uber(), s.dead)
		if s.ended != nil {
			err = fmt.Errorf("%w; %w", err, s.ended)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// close ends everything. Clients first, whose endpoints are their own.
func (f *fleet) close() {
	f.leave()
	for _, s := range f.ships {
		if s.mirror != nil && !s.dead {
			_ = s.mirror.Close()
		}
	}
}
