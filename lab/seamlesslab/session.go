//go:build !js

package seamlesslab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// A session is a world with its brokers and servers, each a process of its own.
type session struct {
	o     *Options
	spec  spec
	title *game.Title
	nodes []Node
	kept  Cluster // as this process reaches it
	zones []uint32
	first [][]byte // the snapshots with which zones began
	zero  time.Time

	mu      sync.Mutex
	brokers []*process
	servers []*process
	acks    []float64
	steps   []Step
	news    []string
}

// begin starts brokers, servers and a world that is quiet after a while.
func begin(ctx context.Context, o *Options, dir string, rate int, last time.Duration,
	p lab.Progress) (*session, error) {
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	s := &session{o: o, spec: spec{Key: key.Text(), Game: o.Game, Zones: o.Zones,
		Purses: rate * o.Zones / (o.Zones - 1), Shots: world.Tick(o.Snapshots),
		Buddies: o.Buddies}}
	if s.title, err = s.spec.title(o.Find); err != nil {
		return nil, err
	}
	s.spec.Quiet = world.Tick(last / s.title.Game.TickLength())
	s.spec.Begin = world.Tick(o.Settle / 2 / s.title.Game.TickLength())
	if o.still > 0 {
		s.spec.Purses, s.spec.Begin, s.spec.Quiet = o.still, 1<<23, 0
	}
	if s.title, err = s.spec.title(o.Find); err != nil {
		return nil, err
	}
	p.Tell(0, "starting brokers")
	if err := s.startBrokers(ctx, dir); err != nil {
		return s, err
	}
	if s.kept, err = In().Open(ctx, way(s.spec.Brokers)); err != nil {
		return s, err
	}
	if err := s.found(ctx); err != nil { // before somebody steps it, and gives first snapshots up
		return s, err
	}
	p.Tell(0, "starting servers")
	for i := range o.Servers {
		s.servers = append(s.servers, nil)
		if err := s.startServer(ctx, i); err != nil {
			return s, err
		}
	}
	if o.Game != "" {
		for i := range s.servers {
			s.servers[i].tell(order{Join: (rate + i) / len(s.servers)})
		}
	}
	return s, s.wait(ctx, "all zones are stepped", time.Minute, func() bool {
		return s.steady() && (o.Game != "" || o.still > 0 || s.furthest() >= uint64(s.spec.Begin))
	})
}

// found begins the world.
func (s *session) found(ctx context.Context) error {
	f := seamless.FoundOptions{Title: s.title, Cluster: s.kept, Zones: s.o.Zones,
		Level: game.Level{Name: s.title.Levels.First(), Seed: s.o.Seed, Secret: s.o.Seed + 1}}
	f.Players = max(1024, 2*s.spec.Purses)
	if s.title.Sight.Reach == 0 {
		f.Reach = s.o.Reach
	}
	if s.o.Game == "" {
		f.Reach = hallReach
		f.Bounds = seamless.Box{Hi: det.Vec3{X: float64(s.o.Zones) * hallWide, Y: hallDeep}}
	}
	plan, err := seamless.Found(ctx, f)
	if err != nil {
		return err
	}
	s.zero = time.Now()
	for _, id := range plan.Zones() {
		s.zones = append(s.zones, uint32(id))
	}
	for _, z := range s.zones {
		keys, err := s.kept.Store().Keys(ctx, fmt.Sprintf("snapshot.%08x.", z))
		if err != nil || len(keys) == 0 {
			return errors.Join(err, fmt.Errorf("zone %d was founded without a snapshot", z))
		}
		data, err := s.kept.Store().Get(ctx, keys[0])
		if err != nil {
			return err
		}
		shot, err := audit.ReadSnapshot(data)
		if err != nil || shot.Sequence != 0 {
			return fmt.Errorf("zone %d: its first snapshot is of sequence %d: %w", z, shot.Sequence,
				err)
		}
		s.first = append(s.first, data)
	}
	return nil
}

// startBrokers starts all of them.
func (s *session) startBrokers(ctx context.Context, dir string) error {
	var peers []string
	for i := range s.o.Nodes {
		addresses, err := free(2)
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, Node{World: benchWorld, Name: fmt.Sprint("node", i+1),
			Dir: filepath.Join(dir, fmt.Sprint("node", i+1)), Listen: addresses[0],
			Meets: addresses[1]})
		peers = append(peers, addresses[1])
		s.spec.Brokers = append(s.spec.Brokers, addresses[0])
	}
	for i := range s.nodes {
		s.nodes[i].Peers = peers
		s.brokers = append(s.brokers, nil)
		if err := s.startBroker(ctx, i); err != nil {
			return err
		}
	}
	return s.wait(ctx, "all brokers are up", time.Minute, func() bool {
		return !slices.ContainsFunc(s.brokers, func(p *process) bool { return p.last.At.IsZero() })
	})
}

// free gives addresses at which nobody listens.
func free(n int) (list []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list, nil
}

func (s *session) startBroker(ctx context.Context, i int) error {
	x := s.spec
	x.Node = s.nodes[i]
	p, err := s.start(ctx, brokerRole, &x)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.brokers[i] = p
	s.mu.Unlock()
	return nil
}

func (s *session) startServer(ctx context.Context, i int) error {
	x := s.spec
	x.Name = fmt.Sprint("server", i+1)
	s.mu.Lock()
	if old := s.servers[i]; old != nil {
		x.Listen = old.last.Addr
	}
	s.mu.Unlock()
	p, err := s.start(ctx, serverRole, &x)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.servers[i] = p
	s.mu.Unlock()
	return nil
}

// end ends all processes.
func (s *session) end() {
	s.mu.Lock()
	list := slices.Concat(s.servers, s.brokers)
	s.mu.Unlock()
	for _, p := range list {
		if p != nil {
			p.kill()
		}
	}
	if s.kept != nil {
		_ = s.kept.Close() // its brokers are gone
	}
}

// wait waits until something is so. What it asks may look at what processes have said.
func (s *session) wait(ctx context.Context, what string, most time.Duration, is func() bool) error {
	for began := time.Now(); ; {
		s.mu.Lock()
		ok, err := is(), s.failed()
		s.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		case time.Since(began) > most:
			return fmt.Errorf("waiting for a minute until %s: %s", what, s.state())
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed is what a process has said that nobody has killed. The lock is held.
func (s *session) failed() error {
	for _, p := range slices.Concat(s.servers, s.brokers) {
		if p != nil && p.err != nil && !p.killed {
			return fmt.Errorf("a %s: %w", p.role, p.err)
		}
	}
	return nil
}

// state says where zones are, for errors.
func (s *session) state() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.servers {
		text += fmt.Sprintf("server %d:", i+1)
		for _, z := range p.last.Zones {
			text += fmt.Sprintf(" zone %d at tick %d (%d behind, %d durable, %v)", z.Zone, z.Tick,
				z.Behind, z.Durable, z.Wrong)
		}
		text += "; "
	}
	return text + fmt.Sprint(s.news)
}

// steady says that all zones are stepped and are on time, by what servers have said lately. The
// lock is held.
func (s *session) steady() bool {
	on := map[zone.ID]bool{}
	for _, p := range s.servers {
		if p == nil || p.killed {
			continue
		}
		if time.Since(p.last.At) > time.Second {
			return false
		}
		for _, z := range p.last.Zones {
			on[z.Zone] = on[z.Zone] || z.Behind <= 4 && z.Tick-z.Durable < 30
		}
	}
	for _, z := range s.zones {
		if !on[zone.ID(z)] {
			return false
		}
	}
	return true
}

// zonesOf are the zones that a server said last that it steps. The lock is held.
func (s *session) zonesOf(i int) (list []uint32) {
	for _, z := range s.servers[i].last.Zones {
		list = append(list, uint32(z.Zone))
	}
	return list
}

// rest waits until nothing moves any more and all zones have snapshots of such a time.
func (s *session) rest(ctx context.Context, p lab.Progress) error {
	p.Tell(0.9, "until all stands still")
	length := s.title.Game.TickLength()
	quiet := uint64(s.spec.Quiet)
	if s.o.Game != "" {
		s.mu.Lock()
		for _, x := range s.servers {
			x.tell(order{Quiet: true})
		}
		s.mu.Unlock()
		quiet = s.tick() + uint64(time.Second/length)
	}
	settled := uint64(0)
	for began := time.Now(); ; {
		ok, err := s.rests(ctx, max(quiet, settled)+uint64(s.o.Calm))
		if ok && settled > 0 {
			return nil
		}
		if ok {
			settled = s.tick()
		}
		left := time.Duration(max(int64(quiet)-int64(s.tick()), 0)) * length
		if time.Since(began) > left+2*time.Minute {
			return errors.Join(err, fmt.Errorf("it does not come to rest at tick %d: %s", quiet,
				s.state()))
		}
		if err := sleep(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// tick is the furthest that any zone has come.
func (s *session) tick() (most uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.furthest()
}

// furthest is tick while the lock is held.
func (s *session) furthest() (most uint64) {
	for _, p := range s.servers {
		for _, z := range p.last.Zones {
			most = max(most, uint64(z.Tick))
		}
	}
	return most
}

// rests says whether each zone has a snapshot since a tick with nothing on its way.
func (s *session) rests(ctx context.Context, tick uint64) (bool, error) {
	if s.tick() < tick {
		return false, nil
	}
	list, err := newest(ctx, s.kept.Store(), s.zones)
	if err != nil {
		return false, err
	}
	for _, data := range list {
		shot, err := audit.ReadSnapshot(data)
		if err != nil || shot.Tick < tick || len(shot.Waiting)+len(shot.Held) > 0 {
			return false, err
		}
	}
	return true, nil
}
