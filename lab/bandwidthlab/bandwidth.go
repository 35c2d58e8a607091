package bandwidthlab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/replica"
)

// Options say what Run measures. Title has no default, and needs a body; the rest has defaults.
type Options struct {
	// Title is what is played, on Level: the same for all numbers of clients, so that they can be
	// compared. Default: the level that the title has for the largest of them.
	Title *game.Title
	Level string
	// Everything shows every client everything, in place of what the title says.
	Everything bool
	// Clients are how many players to measure with, one run for each number. Default: 1, 2, 4, 8, 16, 32.
	Clients []int
	// PerMirror is how many clients a mirror has. From two clients on there are two mirrors at least, so that there is something to measure. Default: 8.
	PerMirror int
	// Time is how long a game is measured, after Warm. Defaults: 60 s, as in the paper, and 5 s.
	Time, Warm time.Duration
	// Exchange is for how much of that time commands are exchanged between peers and mirrors. Default: 10 s.
	Exchange time.Duration
	// Latency is how long commands are timed on each topology. Default: 10 s.
	Latency time.Duration
	// BytesOnly leaves the topologies out.
	BytesOnly bool
	// Cities are the last topology. Default: those of Cities.
	Cities *Delays
	// Mirrors is how many there are in each topology. Default: as many as suit it.
	Mirrors int
	// Seed is the random seed of the game and the network.
	Seed uint64
	// Progress, if set, is told how much of the work is done, from 0 to 1, and what was done last.
	Progress func(done float64, what string)
}

// MaxClients is how many clients a run may have: more peers than that do not fit the multicast's datagrams with room to spare.
const MaxClients = 64

const (
	// snapshotRate is how many state updates a client gets in a second.
	snapshotRate = 20
	// sweepDelay is the way between all machines while bytes are counted.
	sweepDelay = 20 * time.Millisecond
)

func (o *Options) fill() error {
	if len(o.Clients) == 0 {
		o.Clients = []int{1, 2, 4, 8, 16, 32}
	}
	o.Clients = slices.Clone(o.Clients)
	slices.Sort(o.Clients)
	o.Clients = slices.Compact(o.Clients)
	for _, n := range o.Clients {
		if n < 1 || n > MaxClients {
			return fmt.Errorf("%d clients: choose 1 to %d", n, MaxClients)
		}
	}
	if len(o.Clients) < 2 {
		return fmt.Errorf("only runs with %d clients: %w", o.Clients[0], ErrNoLine)
	}
	for _, x := range []struct {
		d    *time.Duration
		def  time.Duration
		name string
	}{{&o.Time, 60 * time.Second, "measured time"}, {&o.Warm, 5 * time.Second, "time to warm up"}, {&o.Exchange, 10 * time.Second, "time of exchange"}, {&o.Latency, 10 * time.Second, "time for latencies"}} {
		if *x.d == 0 {
			*x.d = x.def
		}
		if *x.d < time.Second || *x.d > time.Hour {
			return fmt.Errorf("a %s of %v: choose 1s to 1h", x.name, *x.d)
		}
	}
	o.Exchange = min(o.Exchange, o.Time)
	if o.PerMirror == 0 {
		o.PerMirror = PaperPerMirror
	}
	if o.PerMirror < 1 || o.PerMirror > MaxClients {
		return fmt.Errorf("%d clients at each mirror: choose 1 to %d", o.PerMirror, MaxClients)
	}
	if o.Cities == nil {
		o.Cities = Cities()
	}
	if err := o.Cities.Check(); err != nil {
		return err
	}
	if most := MostMirrors(o.Cities); o.Mirrors < 0 || o.Mirrors > most {
		return fmt.Errorf("%d mirrors: choose 1 to %d, as not all topologies have more places", o.Mirrors, most)
	}
	if o.Title != nil && o.Everything {
		o.Title = o.Title.Clone()
		o.Title.Sight = game.Sight{}
	}
	s, err := o.subject(o.Clients[len(o.Clients)-1])
	if err != nil {
		return err
	}
	o.Level = s.Level
	return errors.Join(s.Commanded("there is nothing for clients to send"), s.Embodied("it cannot be counted who is in a state update"))
}

// subject is the title as so many clients play it.
func (o *Options) subject(clients int) (*lab.Subject, error) {
	return lab.NewSubject(o.Title, o.Level, clients)
}

// MostMirrors is how many mirrors fit all topologies.
func MostMirrors(cities *Delays) int { return min(len(cities.Places), shapePlayers) }

// mirrorsFor is how many mirrors n clients have.
func (o *Options) mirrorsFor(n int) int {
	return max(min(n, 2), (n+o.PerMirror-1)/o.PerMirror)
}

// Run measures all of it. The same options give the same figures, to the last digit.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	protocol, err := o.Title.Protocol(replica.Coeval)
	if err != nil {
		return nil, err
	}
	rules := o.Title.Game
	b := &bench{o: &o, protocol: protocol, tick: rules.TickLength(), rate: rules.Rate()}
	r := &Result{
		Game: rules.Name(), Seed: o.Seed, TickRate: b.rate, Snapshots: snapshotRate, Seconds: o.Time.Seconds(),
		Paper: PaperVariables, Cities: o.Cities.result(), Warnings: o.Cities.Warnings(),
	}
	jobs := b.serve(r)
	if !o.BytesOnly {
		jobs = append(jobs, b.topologies(r)...)
	}
	later := b.exchanges(r) // what takes the commands that were recorded
	for _, list := range [][]job{jobs, later} {
		for _, j := range list {
			b.work += j.work
		}
	}
	if err := b.do(ctx, jobs); err != nil {
		return nil, err
	}
	if err := b.do(ctx, later); err != nil {
		return nil, err
	}
	return r, b.conclude(r)
}

// bench is a Run under way.
type bench struct {
	o        *Options
	protocol *replica.Protocol
	tick     time.Duration
	rate     int
	inputs   map[int][][][]int32 // by number of clients
	peers    []*exchanged        // by run
	mirrors  []*exchanged
	fits     []*exchanged

	lock       sync.Mutex
	work, done float64
}

// job is a part of the work that needs no other.
type job struct {
	what string
	work float64
	do   func(ctx context.Context) error
}

// do spreads jobs over the processors, the longest first. Each is a world of its own.
func (b *bench) do(ctx context.Context, jobs []job) error {
	slices.SortStableFunc(jobs, func(x, y job) int {
		switch {
		case x.work > y.work:
			return -1
		case x.work < y.work:
			return 1
		}
		return 0
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(jobs))
	next := 0
	var all sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), len(jobs))) {
		all.Go(func() {
			for {
				b.lock.Lock()
				i := next
				next++
				b.lock.Unlock()
				if i >= len(jobs) || ctx.Err() != nil {
					return
				}
				if errs[i] = jobs[i].do(ctx); errs[i] != nil {
					errs[i] = fmt.Errorf("%s: %w", jobs[i].what, errs[i])
					cancel()
				}
				b.lock.Lock()
				b.done += jobs[i].work
				if b.o.Progress != nil {
					b.o.Progress(b.done/b.work, jobs[i].what)
				}
				b.lock.Unlock()
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err // rather than that others were stopped because of it
		}
	}
	return ctx.Err()
}

// serve has real servers measured.
func (b *bench) serve(r *Result) (jobs []job) {
	b.inputs = map[int][][][]int32{}
	r.Served = make([]ServedRow, len(b.o.Clients))
	for i, n := range b.o.Clients {
		jobs = append(jobs, job{fmt.Sprintf("a server with %d clients", n), float64(n*n)/8 + float64(n), func(ctx context.Context) error {
			way := func(int) time.Duration { return sweepDelay }
			title, err := b.o.subject(n)
			if err != nil {
				return err
			}
			s, err := newServed(servedOptions{title: title, players: n, seed: b.o.Seed, up: way, down: way})
			if err != nil {
				return err
			}
			defer s.close()
			if err := s.run(ctx, b.o.Warm, b.o.Time); err != nil {
				return err
			}
			r.Served[i] = s.counted()
			b.lock.Lock()
			b.inputs[n] = s.inputs[:min(len(s.inputs), int(b.o.Exchange/b.tick))]
			b.lock.Unlock()
			return nil
		}})
	}
	return jobs
}

// fitClients are the numbers of clients, in a group of two, to which CommandCost is fitted.
var fitClients = []int{1, 2, 4, 8}

// exchanges has groups of peers and of mirrors measured, with the commands of real runs.
func (b *bench) exchanges(*Result) (jobs []job) {
	list := b.o.Clients
	b.peers, b.mirrors, b.fits = make([]*exchanged, len(list)), make([]*exchanged, len(list)), make([]*exchanged, len(fitClients))
	add := func(what string, to []*exchanged, i, n, members, from int) {
		if members < 2 {
			return
		}
		jobs = append(jobs, job{what, float64(members*members) / 8, func(ctx context.Context) (err error) {
			to[i], err = exchange(ctx, b.protocol, dealt(b.inputs[from], n), n, members, b.o.Seed+uint64(n))
			return err
		}})
	}
	for i, n := range list {
		add(fmt.Sprintf("%d peers", n), b.peers, i, n, n, n)
		add(fmt.Sprintf("%d mirrors of %d clients", b.o.mirrorsFor(n), n), b.mirrors, i, n, b.o.mirrorsFor(n), n)
	}
	most := list[len(list)-1]
	for i, k := range fitClients {
		add(fmt.Sprintf("two mirrors with %d clients each", k), b.fits, i, 2*k, 2, most)
	}
	return jobs
}

// dealt gives each of n clients recorded commands, the same to several where fewer played.
func dealt(inputs [][][]int32, n int) [][][]int32 {
	out := make([][][]int32, len(inputs))
	for t, row := range inputs {
		for c := range n {
			out[t] = append(out[t], row[c%len(row)])
		}
	}
	return out
}

// topologies has latencies computed and measured.
func (b *bench) topologies(r *Result) (jobs []job) {
	list := Topologies(b.o.Cities, b.o.Mirrors)
	r.Topologies = make([]TopologyRow, 0, 3*len(list))
	for i := range list {
		t := &list[i]
		for _, a := range Architectures() {
			row := TopologyRow{
				Topology: t.Name, About: t.About, Architecture: a, Players: len(t.Players),
				Path:     t.over(func(i, j int) time.Duration { return t.Path(a, i, j) }),
				Computed: t.over(func(i, j int) time.Duration { return t.Computed(a, i, j, b.tick) }),
			}
			switch a {
			case ClientServer:
				row.Servers = t.names([]int{t.Server})
			case Mirrored:
				row.Servers = t.names(t.Mirrors)
			}
			row.Home = t.home(a)
			r.Topologies = append(r.Topologies, row)
			at := len(r.Topologies) - 1
			n := float64(len(t.Players))
			work := n*n/64 + n/8
			if a == ClientServer {
				work = n*n/16 + n/2
			}
			jobs = append(jobs, job{fmt.Sprintf("latency on %s, %s", t.Name, a), work, func(ctx context.Context) (err error) {
				row := &r.Topologies[at]
				switch a {
				case ClientServer:
					row.Measured, row.Late, err = timeServed(ctx, b.o, t)
				case PeerToPeer:
					row.Measured, err = timePeers(ctx, t, b.o.Seed, b.tick, b.o.Latency)
				default:
					row.Measured, err = timeMirrors(ctx, t, b.o.Seed, b.tick, b.o.Latency)
				}
				return err
			}})
		}
	}
	return jobs
}
