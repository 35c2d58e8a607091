//go:build !js

package seamlesslab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Start makes a process of this program that calls Work in the role given, with its own standard
// input and output.
type Start func(role string) *exec.Cmd

// The roles of processes.
const (
	brokerRole = "broker"
	serverRole = "server"
)

// spec is what a process is to be.
type spec struct {
	Node    Node     // of a broker
	Brokers []string // of a server: where those listen
	Name    string
	Key     string
	Game    string
	Zones   int
	Purses  int
	Begin   world.Tick // from which purses walk
	Quiet   world.Tick // until which they do
	Buddies bool       // of a server
	Listen  string     // of a server: where it was before it ended
	Shots   world.Tick // how many ticks apart snapshots are
}

// title is what is played.
func (s *spec) title(find func(string) (*game.Title, error)) (*game.Title, error) {
	if s.Game != "" {
		return find(s.Game)
	}
	return hall{s.Zones, s.Purses, s.Begin, s.Quiet}.title(), nil
}

// order is what a process is told, after its spec.
type order struct {
	CutLinks, CutBrokers time.Duration
	Join                 int
	Quiet                bool // bots are to stand still
}

// said is what a process says of itself, several times a second.
type said struct {
	Error string `json:",omitempty"`
	At    time.Time
	CPU   time.Duration
	// Of servers:
	Self   zone.ServerID          `json:",omitempty"`
	Addr   string                 `json:",omitempty"`
	Zones  []seamless.ZoneNumbers `json:",omitempty"`
	Stats  zone.Stats             `json:",omitzero"`
	Lates  uint64                 `json:",omitempty"`
	Lines  seamless.LineStats     `json:",omitzero"`
	Stood  time.Duration          `json:",omitempty"` // in all; see pulse
	Joined int                    `json:",omitempty"`
	Acks   []float64              `json:",omitempty"`
	Steps  []Step                 `json:",omitempty"`
	News   []string               `json:",omitempty"`
}

// sayEvery is how often a process says how it does.
const sayEvery = 100 * time.Millisecond

// Work is what the processes run that Start starts, until in ends.
func Work(ctx context.Context, role string, find func(string) (*game.Title, error), in io.Reader,
	out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dec, w := json.NewDecoder(in), &worker{enc: json.NewEncoder(out), orders: make(chan order)}
	if In() == nil {
		return errors.New("this program has no brokers: use coevald")
	}
	var s spec
	if err := dec.Decode(&s); err != nil {
		return fmt.Errorf("a process without a spec: %w", err)
	}
	go func() { // whoever gives orders may be gone: then in ends, and so does this
		defer cancel()
		for {
			var o order
			if dec.Decode(&o) != nil {
				return
			}
			select {
			case w.orders <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	var err error
	switch role {
	case brokerRole:
		err = w.broker(ctx, &s)
	case serverRole:
		err = w.server(ctx, &s, find)
	default:
		err = fmt.Errorf("there is no worker called %q", role)
	}
	if err != nil && ctx.Err() == nil {
		w.say(&said{Error: err.Error()})
		return err
	}
	return nil
}

// worker is a process of an experiment.
type worker struct {
	mu     sync.Mutex
	enc    *json.Encoder
	orders chan order

	news []string
}

func (w *worker) say(s *said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.At, s.CPU = time.Now(), lab.ProcessTime()
	s.News, w.news = w.news, nil
	_ = w.enc.Encode(s) // who does not hear it any more ends this process
}

// broker runs a broker.
func (w *worker) broker(ctx context.Context, s *spec) error {
	c, err := In().Run(ctx, s.Node)
	if err != nil {
		return err
	}
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		w.say(&said{})
		select {
		case <-ctx.Done():
			return c.Close()
		case <-tick.C:
		}
	}
}

// server runs a server of a world.
func (w *worker) server(ctx context.Context, s *spec,
	find func(string) (*game.Title, error)) error {
	t, err := s.title(find)
	if err != nil {
		return err
	}
	key, err := token.ParseKey(s.Key)
	if err != nil {
		return err
	}
	c, err := In().Open(ctx, way(s.Brokers))
	if err != nil {
		return err
	}
	defer c.Close()
	l, err := udp.Listen(cmp.Or(s.Listen, "127.0.0.1:0"),
		udp.Options{ReadBuffer: 4 << 20, WriteBuffer: 4 << 20})
	if err != nil {
		return err
	}
	defer l.Close()
	x := &serving{worker: w, kept: watch(c), link: &cutLink{Link: l}}
	x.neutral(t)
	x.Server, err = seamless.New(seamless.Options{Title: t, Cluster: x.kept, Link: x.link,
		Keys: []token.Key{key}, Name: s.Name, Bots: x.plays, News: w.hears,
		SnapshotEvery: s.Shots, Buddies: s.Buddies, Durable: x.kept.step})
	if err != nil {
		return err
	}
	go x.pulse(ctx)
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	return x.talk(ctx, l.LocalAddr().String(), ended)
}

// hears notes news of zones.
func (w *worker) hears(n seamless.News) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.Err != nil {
		w.news = append(w.news, fmt.Sprintf("zone %d at tick %d: %v", n.Zone, n.Tick, n.Err))
	}
}

// pulse adds up for how long a process was not run by the machine, in pauses of more than a tick:
// then nothing can be on time, whatever is measured.
func (x *serving) pulse(ctx context.Context) {
	const beat, tick = 2 * time.Millisecond, time.Second / 60
	t := time.NewTicker(beat)
	defer t.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := time.Now()
		if d := now.Sub(last); d > tick {
			x.stood.Add(int64(d))
		}
		last = now
	}
}

// serving is a server under way.
type serving struct {
	*seamless.Server
	*worker
	kept *watched
	link *cutLink

	quiet  atomic.Bool
	joined atomic.Int64
	stood  atomic.Int64
	still  []int32 // a command to do nothing
}

// neutral makes the command by which a player does nothing.
func (x *serving) neutral(t *game.Title) {
	if l := t.Game.Commands(); l != nil {
		x.still = make([]int32, len(l.Slots))
	}
}

// plays says that this server plays for everybody. When all is to be quiet everybody stands still
// instead, as the last command would be repeated.
func (x *serving) plays(who world.Player) bool {
	if !x.quiet.Load() {
		return true
	}
	x.Command(who, x.still)
	return false
}

// talk says how the server does, and takes orders.
func (x *serving) talk(ctx context.Context, at string, ended <-chan error) error {
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case o := <-x.orders:
			x.obey(ctx, &o)
		case <-tick.C:
			n, err := x.Numbers(ctx)
			if err != nil {
				continue // it ends
			}
			acks, steps := x.kept.took()
			x.say(&said{Self: x.Self(), Addr: at, Zones: n.Zones, Stats: n.Protocol,
				Lates:  n.LateTicks,
				Lines:  n.Lines,
				Stood:  time.Duration(x.stood.Load()),
				Joined: int(x.joined.Load()), Acks: acks, Steps: steps})
		}
	}
}

func (x *serving) obey(ctx context.Context, o *order) {
	if o.CutLinks > 0 {
		x.link.cut(o.CutLinks)
	}
	if o.CutBrokers > 0 {
		x.kept.cut(o.CutBrokers)
	}
	if o.Quiet {
		x.quiet.Store(true)
	}
	for range o.Join {
		go func() {
			for ctx.Err() == nil {
				once, cancel := context.WithTimeout(ctx, 20*time.Second)
				_, err := x.Join(once)
				cancel()
				if err == nil {
					x.joined.Add(1)
					return
				}
			}
		}()
	}
}
