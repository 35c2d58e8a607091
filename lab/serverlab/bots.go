package serverlab

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// bots are all of them, on as many cores as the server leaves.
type bots struct {
	lab.Shift
	spec   *spec
	gangs  []*gang
	before botsSample
}

// gang is a share of the bots, driven by one goroutine.
type gang struct {
	turns lab.Turns
	clock *lab.Clock
	bots  []*bot
	quiet time.Duration // until when they keep still
	sizes []int
}

// bot is a whole client with a socket of its own, which decodes what it is sent and does not
// predict.
type bot struct {
	client *client.Client
	think  game.Bot
	bytes  uint64
}

// calmTime passes between joining and the first rehearsal.
const calmTime = 300 * time.Millisecond

// runBots plays from open to close.
func runBots(g *lab.Subject, d *lab.Desk, s *spec) error {
	strategy, err := replica.ParseStrategy(s.Strategy)
	if err != nil {
		return err
	}
	// The server keeps its cores to itself, if there are enough.
	n := min(max(1, runtime.NumCPU()-s.Procs), s.Players)
	every := g.Game.TickLength()
	r := &bots{spec: s, gangs: make([]*gang, n)}
	r.Shift = lab.Shift{
		Clock: lab.NewClock(every), Turn: r.turn, Begin: r.begin, End: r.sample, Close: r.leave,
		Joined: r.playing, Joining: lab.Joining{
			Who: "bots", Calm: calmTime,
			Most: s.joinTime()},
		Measure: func(o lab.Order) error {
			now := r.Clock.Now()
			if o.Kind != kindQuiet {
				r.Window.Set(now+lab.ChangeTime, o.Window)
				return nil
			}
			for _, x := range r.gangs {
				x.quiet = now + lab.ChangeTime + o.Window
			}
			return d.Answer(botsSample{})
		}}
	for i := range r.gangs {
		r.gangs[i] = &gang{turns: lab.Turns{Every: every}, clock: r.Clock}
	}
	defer r.each(func(b *bot) { _ = b.client.Close() })
	for i := range s.Players {
		b, err := newBot(g, s, strategy, i)
		if err != nil {
			return fmt.Errorf("bot %d: %w", i+1, err)
		}
		x := r.gangs[i%n]
		x.bots = append(x.bots, b)
		x.turns.Clients++
	}
	return d.Work(&r.Shift)
}

func newBot(g *lab.Subject, s *spec, strategy replica.Strategy, i int) (*bot, error) {
	tok, err := token.ParseText(s.Tokens[i])
	if err != nil {
		return nil, err
	}
	l, err := udp.Listen(netip.AddrPortFrom(s.Server.Addr(), 0).String(),
		udp.Options{ReadBuffer: 256 << 10, WriteBuffer: 64 << 10})
	if err != nil {
		return nil, err
	}
	b := &bot{think: g.NewBot(s.Seed + uint64(i))}
	b.client, err = client.New(client.Options{
		Title: g.Title, Strategy: strategy, Style: predict.None, Link: l, Token: tok,
		Conn: s.connOptions(), ConnectTimeout: s.joinTime(), Return: -1,
		Name: fmt.Sprintf("bot %d", i+1),
	})
	if err != nil {
		_ = l.Close()
	}
	return b, err
}

// command asks the bot, which is shown what its client was told last.
func (b *bot) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	_ = b.think(shown, me, t, in) // without a command the player does nothing
}

// play lets those have their tick whose turn has come, and says when the next one's is. In slow
// motion there is time for the server to be done with its tick before they begin: two cores are
// often two halves of one, and what the bots do would slow it down.
func (x *gang) play() (next time.Duration, err error) {
	if rest := x.quiet - x.clock.Now(); rest > 0 {
		x.clock.Sleep(rest)
	}
	every := x.turns.Every
	from, to := every/10, every-every/10
	if x.clock.Pace < 1 {
		from, to = every*45/100, every-every/20
	}
	return x.turns.Take(x.clock.Now(), from, to, func(i int) error {
		b := x.bots[i]
		if v := b.client.Frame(x.clock.Now(), b.command); v.Ended {
			return fmt.Errorf("a bot lost its connection: %w", v.Err)
		}
		if n := b.client.Stats().Bytes; n != b.bytes {
			if len(x.sizes) < cap(x.sizes) {
				x.sizes = append(x.sizes, int(n-b.bytes))
			}
			b.bytes = n
		}
		return nil
	})
}

// turn lets every gang play a few milliseconds, and waits for all: between turns nobody plays, so
// that orders and counts need no locks.
func (r *bots) turn() error {
	const stretch = 8 * time.Millisecond
	until := r.Clock.Now() + stretch
	errs := make([]error, len(r.gangs))
	var wg sync.WaitGroup
	for i, x := range r.gangs {
		wg.Go(func() {
			for r.Clock.Now() < until {
				next, err := x.play()
				if err != nil {
					errs[i] = err
					return
				}
				if rest := next - x.clock.Now(); rest > 0 {
					x.clock.Sleep(max(rest, lab.Nap))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *bots) each(f func(b *bot)) {
	for _, x := range r.gangs {
		for _, b := range x.bots {
			f(b)
		}
	}
}

func (r *bots) playing() bool {
	all := true
	r.each(func(b *bot) {
		all = all && b.client.Phase() == client.Playing && b.client.Stats().Snapshots > 0
	})
	return all
}

// count adds up what grows.
func (r *bots) count() (s botsSample) {
	r.each(func(b *bot) { s.Bad += b.client.Stats().Bad })
	s.CPU, s.Wall = lab.ProcessTime(), r.Clock.Now()
	return s
}

func (r *bots) begin() {
	r.before = r.count()
	for _, x := range r.gangs {
		x.sizes = slices.Grow(x.sizes[:0], 1<<18)
	}
}

func (r *bots) sample() any {
	s := lab.Less(r.count(), r.before)
	var all []int
	for _, x := range r.gangs {
		all = append(all, x.sizes...)
	}
	s.Sizes = middleOf(all)
	r.each(func(b *bot) {
		w := b.client.Truth()
		if w == nil {
			return
		}
		for id := range w.Entities() {
			s.Entities++
			if p := w.Owner(id); p != world.Nobody && p != b.client.Player() {
				s.Others++
			}
		}
	})
	s.Entities /= float64(r.spec.Players)
	s.Others /= float64(r.spec.Players)
	return s
}

// leave lets everyone go in good order, so that nothing is sent to ports that are closed.
func (r *bots) leave() error {
	r.each(func(b *bot) { b.client.Leave() })
	done := false
	for until := time.Now().Add(2 * time.Second); !done &&
		time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		done = true
		r.each(func(b *bot) {
			if !b.client.Done() {
				done = false
				b.client.Frame(r.Clock.Now(), b.command)
			}
		})
	}
	return nil
}
