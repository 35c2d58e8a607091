package lab

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
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// gang is a share of the bots, driven by one goroutine.
type gang struct {
	every time.Duration
	clock *slowClock
	bots  []*botClient
	turns int
	quiet time.Duration // until when they keep still
	sizes []int
}

// botClient is one bot: a whole client with a socket of its own, which decodes what it is sent and does not predict.
type botClient struct {
	client *client.Client
	bot    game.Bot
	bytes  uint64
}

// botsSettle passes between joining and the first rehearsal.
const botsSettle = 300 * time.Millisecond

// runBots plays from open to close.
func runBots(g *Subject, d *desk, spec *hostSpec) error {
	strategy, err := replica.ParseStrategy(spec.Strategy)
	if err != nil {
		return err
	}
	// The server keeps its cores to itself, if there are enough.
	n := min(max(1, runtime.NumCPU()-spec.Procs), spec.Players)
	every := g.Game.TickLength()
	clock := newSlowClock(every)
	gangs := make([]*gang, n)
	for i := range gangs {
		gangs[i] = &gang{every: every, clock: clock}
	}
	defer func() {
		for _, x := range gangs {
			for _, b := range x.bots {
				_ = b.client.Close()
			}
		}
	}()
	for i := range spec.Players {
		b, err := newBotClient(g, spec, strategy, i)
		if err != nil {
			return fmt.Errorf("bot %d: %w", i+1, err)
		}
		gangs[i%n].bots = append(gangs[i%n].bots, b)
	}
	return (&botsRun{d: d, gangs: gangs, spec: spec, clock: clock}).run()
}

func newBotClient(g *Subject, spec *hostSpec, s replica.Strategy, i int) (*botClient, error) {
	tok, err := token.ParseText(spec.Tokens[i])
	if err != nil {
		return nil, err
	}
	l, err := udp.Listen(netip.AddrPortFrom(spec.Server.Addr(), 0).String(), udp.Options{ReadBuffer: 256 << 10, WriteBuffer: 64 << 10})
	if err != nil {
		return nil, err
	}
	b := &botClient{bot: g.NewBot(spec.Seed + uint64(i))}
	b.client, err = client.New(client.Options{
		Title: g.Title, Strategy: s, Style: predict.None, Link: l, Token: tok,
		Conn: spec.connOptions(), Return: -1, Name: fmt.Sprintf("bot %d", i+1),
	})
	if err != nil {
		_ = l.Close()
	}
	return b, err
}

// command asks the bot, which is shown what its client was told last.
func (b *botClient) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	_ = b.bot(shown, me, t, in) // without a command the player does nothing
}

// due is when turn n comes. Turns are spread over the tick, but for the moment at which the server drains its socket. In slow motion there is time for the server to
// be done with its tick before they begin: two cores are often two halves of one, and what the bots do would slow it down.
func (x *gang) due(n int) time.Duration {
	from, to := x.every/10, x.every-x.every/10
	if x.clock.pace < 1 {
		from, to = x.every*45/100, x.every-x.every/20
	}
	return time.Duration(n/len(x.bots))*x.every + from + (to-from)*time.Duration(n%len(x.bots))/time.Duration(len(x.bots))
}

// play lets those have their tick whose turn has come.
func (x *gang) play() error {
	now := x.clock.now()
	if now < x.quiet {
		x.clock.sleep(x.quiet - now)
		now = x.clock.now()
	}
	if late := now - x.due(x.turns) - x.every; late > 0 {
		x.turns += (int(late/x.every) + 1) * len(x.bots)
	}
	for x.due(x.turns) <= now {
		b := x.bots[x.turns%len(x.bots)]
		if v := b.client.Frame(x.clock.now(), b.command); v.Ended {
			return fmt.Errorf("a bot lost its connection: %w", v.Err)
		}
		if n := b.client.Stats().Bytes; n != b.bytes {
			if len(x.sizes) < cap(x.sizes) {
				x.sizes = append(x.sizes, int(n-b.bytes))
			}
			b.bytes = n
		}
		x.turns++
	}
	return nil
}

// botsRun drives all gangs at once.
type botsRun struct {
	d     *desk
	gangs []*gang
	spec  *hostSpec
	clock *slowClock
}

func (r *botsRun) run() error {
	var settled, from, until time.Duration
	var before botsSample
	answered, active := false, false
	for {
		o, ok, err := r.d.next()
		now := r.clock.now()
		switch {
		case err != nil:
			return err
		case ok && o.Do == doClose:
			return r.leave()
		case ok && o.Do == doPace:
			r.clock.setPace(o.Pace, o.From)
			if err := r.d.answer(nil, nil); err != nil {
				return err
			}
		case ok && o.Do == doMeasure && o.Kind == kindQuiet:
			for _, x := range r.gangs {
				x.quiet = now + changeTime + o.Window
			}
			from, until = 0, 0
			if err := r.d.answer(botsSample{}, nil); err != nil {
				return err
			}
		case ok && o.Do == doMeasure:
			from = now + changeTime
			until = from + o.Window
		}
		if err := r.turn(); err != nil {
			return err
		}
		now = r.clock.now()
		switch {
		case !answered && settled == 0 && r.playing():
			settled = now + botsSettle
		case !answered && settled == 0 && now > joinTime+time.Duration(r.spec.Players)*10*time.Millisecond:
			return errors.New("not all bots could join: this machine is too busy, take fewer players")
		case !answered && settled != 0 && now >= settled:
			answered = true
			if err := r.d.answer(nil, nil); err != nil {
				return err
			}
		}
		switch {
		case !active && until != 0 && now >= from:
			active = true
			before = r.count()
			for _, x := range r.gangs {
				x.sizes = slices.Grow(x.sizes[:0], 1<<18)
			}
		case active && now >= until:
			active, until = false, 0
			if err := r.d.answer(r.sample(&before), nil); err != nil {
				return err
			}
		}
	}
}

// turn lets every gang play a few milliseconds, and waits for all: between turns nobody plays, so that orders and counts need no locks.
func (r *botsRun) turn() error {
	const stretch = 8 * time.Millisecond
	until := r.clock.now() + stretch
	errs := make([]error, len(r.gangs))
	var wg sync.WaitGroup
	for i, x := range r.gangs {
		wg.Go(func() {
			for r.clock.now() < until {
				if errs[i] = x.play(); errs[i] != nil {
					return
				}
				if rest := x.due(x.turns) - x.clock.now(); rest > 0 {
					x.clock.sleep(max(rest, crowdNap))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *botsRun) each(f func(b *botClient)) {
	for _, x := range r.gangs {
		for _, b := range x.bots {
			f(b)
		}
	}
}

func (r *botsRun) playing() bool {
	all := true
	r.each(func(b *botClient) {
		all = all && b.client.Phase() == client.Playing && b.client.Stats().Snapshots > 0
	})
	return all
}

// count adds up what grows.
func (r *botsRun) count() (s botsSample) {
	r.each(func(b *botClient) {
		st := b.client.Stats()
		s.Commands += st.Commands
		s.Snapshots += st.Snapshots
		s.Bytes += st.Bytes
		s.Bad += st.Bad
	})
	s.CPU = processTime()
	s.Wall = r.clock.now()
	return s
}

func (r *botsRun) sample(before *botsSample) botsSample {
	s := r.count()
	s.Wall -= before.Wall
	s.CPU -= before.CPU
	s.Commands -= before.Commands
	s.Snapshots -= before.Snapshots
	s.Bytes -= before.Bytes
	s.Bad -= before.Bad
	var all []int
	for _, x := range r.gangs {
		all = append(all, x.sizes...)
	}
	s.Sizes.Median, s.Sizes.Most99, s.Sizes.Most = middle(all)
	r.each(func(b *botClient) {
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
func (r *botsRun) leave() error {
	r.each(func(b *botClient) { b.client.Leave() })
	until := time.Now().Add(2 * time.Second)
	for time.Now().Before(until) {
		done := true
		r.each(func(b *botClient) {
			if !b.client.Done() {
				done = false
				b.client.Frame(r.clock.now(), b.command)
			}
		})
		if done {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}
