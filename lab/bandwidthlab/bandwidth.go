package bandwidthlab

import (
	"context"
	"errors"
	"fmt"
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
	// Clients are how many players to measure with, one run for each number.
	Clients []int
	// PerMirror is how many clients a mirror has. From two clients on there are two mirrors at
	// least, so that there is something to measure.
	PerMirror int
	// Time is how long a game is measured, after Warm; the default is the paper's. Exchange is for
	// how much of that time commands are exchanged between peers and mirrors, and Latency how long
	// commands are timed on each topology.
	Time, Warm, Exchange, Latency time.Duration
	// BytesOnly leaves the topologies out.
	BytesOnly bool
	// Cities are the last topology. Default: those of Cities.
	Cities *Delays
	// Mirrors is how many there are in each topology. Default: as many as suit it.
	Mirrors  int
	Seed     uint64
	Progress lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Numbers(&o.Clients, "clients", []int{1, 2, 4, 8, 16, 32}, 1, MaxClients,
			"numbers of clients to measure with"),
		lab.Number(&o.PerMirror, "per-mirror", paperPerMirror, 1, MaxClients,
			"clients of each mirror; from 2 clients on there are 2 mirrors at least"),
		lab.Number(&o.Mirrors, "mirrors", 0, 0, MaxPlaces,
			"mirrors in each topology; 0: as many as suit it"),
		lab.Level(&o.Level),
		lab.Switch(&o.Everything, "everything",
			"show every client everything: no interest management"),
		lab.Switch(&o.BytesOnly, "bytes-only", "leave out the topologies"),
		lab.Seed(&o.Seed, "the game and the network"),
	}
}

// times are further options, for which there are no flags.
func (o *Options) times() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Time, "time", time.Minute, time.Second, time.Hour, ""),
		lab.Number(&o.Warm, "warm", 5*time.Second, time.Second, time.Hour, ""),
		lab.Number(&o.Exchange, "exchange", 10*time.Second, time.Second, time.Hour, ""),
		lab.Number(&o.Latency, "latency", 10*time.Second, time.Second, time.Hour, ""),
	}
}

// MaxClients is how many clients a run may have: more peers than that do not fit the multicast's
// datagrams with room to spare.
const MaxClients = 64

const (
	// snapshotRate is how many state updates a client gets in a second.
	snapshotRate = 20
	// sweepDelay is the way between all machines while bytes are counted.
	sweepDelay = 20 * time.Millisecond
)

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(append(o.List(), o.times()...)); err != nil {
		return err
	}
	o.Clients = slices.Compact(slices.Sorted(slices.Values(o.Clients)))
	if len(o.Clients) < 2 {
		return fmt.Errorf("clients has only %d: %w", o.Clients[0], ErrNoLine)
	}
	o.Exchange = min(o.Exchange, o.Time)
	if o.Cities == nil {
		o.Cities = Cities()
	}
	if err := o.Cities.Check(); err != nil {
		return err
	}
	if most := min(len(o.Cities.Places), shapePlayers); o.Mirrors > most {
		return fmt.Errorf(
			"mirrors is %d: choose 1 to %d, as not all topologies have more places, or 0",
			o.Mirrors, most)
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
	return nil
}

// subject is the title as so many clients play it.
func (o *Options) subject(clients int) (*lab.Subject, error) {
	return lab.NewSubject(o.Title, o.Level, clients)
}

// mirrorsFor is how many mirrors n clients have.
func (o *Options) mirrorsFor(n int) int {
	return max(min(n, 2), (n+o.PerMirror-1)/o.PerMirror)
}

// Run measures all of it. The same options give the same figures, to the last digit.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	title, err := o.subject(1)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(title.Commanded("there is nothing for clients to send"),
		title.Embodied("it cannot be counted who is in a state update")); err != nil {
		return nil, err
	}
	protocol, err := o.Title.Protocol(replica.Coeval)
	if err != nil {
		return nil, err
	}
	rules := o.Title.Game
	b := &bench{o: &o, protocol: protocol, tick: rules.TickLength(), rate: rules.Rate()}
	r := &Result{
		Game: rules.Name(), Seed: o.Seed, TickRate: b.rate, Snapshots: snapshotRate,
		Seconds: o.Time.Seconds(),
		Paper:   PaperVariables, Cities: o.Cities.result(), Warnings: o.Cities.Warnings(),
	}
	jobs := b.serve(r)
	if !o.BytesOnly {
		jobs = append(jobs, b.topologies(r)...)
	}
	jobs = append(jobs, b.mirror()...)
	later := b.exchanges(r) // what takes the commands that were recorded
	first := lab.WorkOf(jobs) / (lab.WorkOf(jobs) + lab.WorkOf(later))
	if err := lab.Spread(ctx, jobs, o.Progress.Within(0, first)); err != nil {
		return nil, err
	}
	if err := lab.Spread(ctx, later, o.Progress.Within(first, 1-first)); err != nil {
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
	mirrors  []*MirrorsRow
	fits     []*exchanged

	lock sync.Mutex // of inputs
}

// serve has real servers measured.
func (b *bench) serve(r *Result) (jobs []lab.Job) {
	b.inputs = map[int][][][]int32{}
	r.Served = make([]ServedRow, len(b.o.Clients))
	for i, n := range b.o.Clients {
		jobs = append(jobs,
			lab.Job{What: fmt.Sprintf("a server with %d clients", n),
				Work: float64(n*n)/8 + float64(n), Do: func(ctx context.Context) error {
					way := func(int) time.Duration { return sweepDelay }
					title, err := b.o.subject(n)
					if err != nil {
						return err
					}
					s := newServed(ctx, servedOptions{
						title: title, players: n, seed: b.o.Seed, up: way, down: way})
					defer s.Close()
					if err := s.play(b.o.Warm, b.o.Time); err != nil {
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

// mirror has real mirrors measured.
func (b *bench) mirror() (jobs []lab.Job) {
	b.mirrors = make([]*MirrorsRow, len(b.o.Clients))
	for i, n := range b.o.Clients {
		m := b.o.mirrorsFor(n)
		if m < 2 {
			continue
		}
		jobs = append(jobs, lab.Job{What: fmt.Sprintf("%d mirrors of %d clients", m, n),
			Work: float64(n*n*m)/24 + float64(n), Do: func(ctx context.Context) error {
				title, err := b.o.subject(n)
				if err != nil {
					return err
				}
				b.mirrors[i], err = PlayMirrors(ctx, MirrorsOptions{Title: title, Clients: n,
					Mirrors: m, Seed: b.o.Seed, Warm: b.o.Warm, Time: b.o.Exchange})
				return err
			}})
	}
	return jobs
}

// exchanges has groups of peers measured, with the commands of real runs, and two mirrors' worth of
// packets, by which the model's b is found.
func (b *bench) exchanges(*Result) (jobs []lab.Job) {
	list := b.o.Clients
	b.peers, b.fits = make([]*exchanged, len(list)), make([]*exchanged, len(fitClients))
	add := func(what string, to []*exchanged, i, n, members, from int) {
		if members < 2 {
			return
		}
		jobs = append(jobs,
			lab.Job{What: what, Work: float64(members*members) / 8,
				Do: func(ctx context.Context) (err error) {
					to[i], err = exchange(ctx, b.protocol, dealt(b.inputs[from], n), n, members,
						b.o.Seed+uint64(n))
					return err
				}})
	}
	for i, n := range list {
		add(fmt.Sprintf("%d peers", n), b.peers, i, n, n, n)
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
func (b *bench) topologies(r *Result) (jobs []lab.Job) {
	list := Topologies(b.o.Cities, b.o.Mirrors)
	r.Topologies = make([]TopologyRow, 0, 3*len(list))
	for i := range list {
		t := &list[i]
		for _, a := range Architectures() {
			row := TopologyRow{
				Topology: t.Name, About: t.About, Architecture: a, Players: len(t.Players),
				Path: t.over(func(i, j int) time.Duration { return t.Path(a, i, j) }),
				Computed: t.over(func(i, j int) time.Duration {
					return t.Computed(a, i, j, b.tick)
				}),
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
			jobs = append(jobs,
				lab.Job{What: fmt.Sprintf("latency on %s, %s", t.Name, a), Work: work,
					Do: func(ctx context.Context) (err error) {
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
