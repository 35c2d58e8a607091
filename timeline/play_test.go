package timeline_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// length is that of a tick.
var length = game.TickLength()

// at is when a tick is due.
func at(t world.Tick) time.Duration { return time.Duration(t) * time.Second / 60 }

// An arrival is a command, and when it comes; or something else that is done then.
type arrival struct {
	at time.Duration
	timeline.Command
	do      func(now time.Duration, line timeline.Timeline) error // in place of submitting it
	refused bool                                                  // it may be
}

type script []arrival

func (s script) String() string {
	var b strings.Builder
	promises := 0
	for _, a := range s {
		if a.do != nil {
			fmt.Fprintf(&b, "%v: a change\n", a.at)
			continue
		}
		if a.Kind == timeline.Promise {
			promises++
			continue
		}
		fmt.Fprintf(&b, "%v: %v\n", a.at, &a.Command)
	}
	fmt.Fprintf(&b, "and %d promises\n", promises)
	return b.String()
}

// sorted puts a script into the order of arrival; what comes at one moment stays in its order.
func (s script) sorted() script {
	s = slices.Clone(s)
	slices.SortStableFunc(s, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return s
}

// A happening is an event with its image.
type happening struct {
	world.Emitted
	image string // as bytes, to be compared
}

func imageText(image []int32) string {
	b := make([]byte, 0, 4*len(image))
	for _, v := range image {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

// An outcome is what a timeline made of a script.
type outcome struct {
	hashes    map[world.Tick]uint64 // of settled worlds
	confirmed []happening
	taken     script // what was not too late
	fates     map[timeline.Fate]int
	stats     timeline.Stats
	line      timeline.Timeline
}

// A maker makes a timeline of one sort; those that wait are told whom to wait for.
type maker struct {
	name string
	make func(start *world.World, o timeline.Options, mirrors []member.ID) (timeline.Timeline,
		error)
	waits bool
}

const window = 200 * time.Millisecond

// makers are the timelines that promise to be exact, for commands that come within the window.
func makers() []maker {
	ms := func(n ...time.Duration) []time.Duration {
		for i := range n {
			n[i] *= time.Millisecond
		}
		return n
	}
	trailing := func(name string, o timeline.TrailingOptions) maker {
		return maker{
			name: name, make: func(start *world.World, base timeline.Options,
				_ []member.ID) (timeline.Timeline, error) {
				o := o
				o.Options = base
				return timeline.NewTrailing(start, o)
			}}
	}
	warp := func(name string, every int) maker {
		return maker{
			name: name, make: func(start *world.World, base timeline.Options,
				_ []member.ID) (timeline.Timeline, error) {
				return rivals.NewTimeWarp(start,
					rivals.TimeWarpOptions{Options: base, Window: window, Every: every})
			}}
	}
	return []maker{
		trailing("trailing 1", timeline.TrailingOptions{Delays: timeline.DelaysOf(ms(200)...)}),
		trailing("trailing 2", timeline.TrailingOptions{Delays: timeline.DelaysOf(ms(0, 200)...)}),
		trailing("trailing 4",
			timeline.TrailingOptions{Delays: timeline.DelaysOf(ms(0, 40, 100, 200)...)}),
		trailing("trailing everything",
			timeline.TrailingOptions{
				Delays: timeline.DelaysOf(ms(10, 60, 200)...), Everything: true}),
		trailing("trailing correct",
			timeline.TrailingOptions{
				Delays: timeline.DelaysOf(ms(0, 50, 120, 200)...), Correct: true}),
		trailing("trailing back",
			timeline.TrailingOptions{
				Delays: timeline.DelaysOf(ms(0, 100, 200)...), Back: 200 * time.Millisecond}),
		trailing("trailing back a little",
			timeline.TrailingOptions{
				Delays: timeline.DelaysOf(ms(0, 40, 200)...), Back: 50 * time.Millisecond}),
		warp("time warp", 1),
		warp("time warp, sparse", 5),
		{name: "lock step", waits: true,
			make: func(start *world.World, o timeline.Options, m []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewLockstep(start, rivals.LockstepOptions{Options: o, Mirrors: m})
			}},
		{name: "conservative", waits: true,
			make: func(start *world.World, o timeline.Options, m []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewConservative(start,
					rivals.ConservativeOptions{Options: o, Mirrors: m})
			}},
		{name: "rollback", waits: true,
			make: func(start *world.World, o timeline.Options, m []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewRollback(start,
					rivals.RollbackOptions{Options: o, Mirrors: m, Window: 8})
			}},
	}
}

// play runs a timeline on a script until a tick is settled, and looks whether it keeps to the
// contract of notices. For those that wait there are promises in the script.
func play(start *world.World, m maker, mirrors []member.ID, s script, end world.Tick,
	each func(now time.Duration, line timeline.Timeline) error) (*outcome, error) {
	out := &outcome{hashes: map[world.Tick]uint64{}, fates: map[timeline.Fate]int{}}
	next := start.Tick() + 1
	var wrong error
	within := margins
	if start.Game() != game {
		within = nil
	}
	line, err := m.make(start,
		timeline.Options{
			Margins: within, HashEvery: 8, Ahead: 2 * time.Second,
			Settled: func(w *world.World, in *world.Inputs) {
				if w.Tick() != next && wrong == nil {
					wrong = fmt.Errorf("tick %d was settled, and %d should have been", w.Tick(),
						next)
				}
				next++
				out.hashes[w.Tick()] = w.Hash()
			}}, mirrors)
	if err != nil {
		return nil, err
	}
	out.line = line
	open := map[world.Emitted]bool{} // events that were announced
	advance := func(now time.Duration) error {
		if err := line.Advance(now); err != nil {
			return err
		}
		for _, n := range line.Notices() {
			key := n.Event
			switch n.What {
			case timeline.Provisional:
				if open[key] {
					return fmt.Errorf("%v was announced twice", n)
				}
				open[key] = true
			default:
				if !open[key] {
					return fmt.Errorf("%v was never announced", n)
				}
				delete(open, key)
			}
			if n.What == timeline.Confirmed {
				out.confirmed = append(out.confirmed, happening{n.Event, imageText(n.Image)})
			}
		}
		if each != nil {
			return each(now, line)
		}
		return wrong
	}
	s = s.sorted()
	for now, i, tick := time.Duration(0), 0, world.Tick(0); line.Settled().Tick() < end; {
		now = at(tick)
		if i < len(s) && s[i].at <= now {
			now = s[i].at
		} else {
			tick++
		}
		for ; i < len(s) && s[i].at <= now; i++ {
			if s[i].do != nil {
				if err := s[i].do(now, line); err != nil {
					return nil, err
				}
				continue
			}
			f, err := line.Submit(now, s[i].Command)
			if err != nil && s[i].refused && errors.Is(err, timeline.ErrMirror) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%v: %w", &s[i].Command, err)
			}
			if s[i].Kind == timeline.Promise {
				continue
			}
			out.fates[f]++
			if f != timeline.TooLate {
				out.taken = append(out.taken, s[i])
			}
		}
		if err := advance(now); err != nil {
			return nil, err
		}
		if tick > end+3600 {
			return nil, fmt.Errorf("after %v only tick %d is settled", now, line.Settled().Tick())
		}
	}
	out.stats = line.Stats()
	return out, nil
}

// oracle computes on one machine what should come of commands: the hash of every tick, and every
// event.
func oracle(start *world.World, s script, end world.Tick) (map[world.Tick]uint64, []happening) {
	w := start.Host().Clone()
	hashes := map[world.Tick]uint64{}
	var events []happening
	var packer bits.Sync
	s = slices.Clone(s)
	slices.SortStableFunc(s, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Seq, b.Seq),
			slices.Compare(a.Image, b.Image))
	})
	game := start.Game()
	in := game.NewInputs()
	for w.Tick() < end {
		in.Reset()
		for _, a := range s {
			if a.Tick != w.Tick()+1 {
				continue
			}
			switch a.Kind {
			case timeline.Join:
				in.Join(a.Player)
			case timeline.Leave:
				in.Leave(a.Player)
			case timeline.Give:
				err := in.GiveImage(a.Player, a.Image)
				if err == nil && a.Shown {
					err = in.Show(a.Player, a.Sight)
				}
				if err != nil {
					panic(err)
				}
			case timeline.Tell:
				if err := in.Tell(a.Told, a.Data); err != nil {
					panic(err)
				}
			}
		}
		if err := w.Host().Step(in); err != nil {
			panic(err)
		}
		hashes[w.Tick()] = w.Hash()
		for e, v := range w.Host().Happened {
			image := make([]int32, game.Events()[e.Kind].Layout().Len())
			if err := game.Events()[e.Kind].Layout().Pack(&packer, v, image); err != nil {
				panic(err)
			}
			events = append(events, happening{e, imageText(image)})
		}
	}
	return hashes, events
}

// judge compares what was settled with the oracle.
func judge(start *world.World, out *outcome, end world.Tick) error {
	hashes, events := oracle(start, out.taken, end)
	for n := start.Tick() + 1; n <= end; n++ {
		if out.hashes[n] != hashes[n] {
			return fmt.Errorf("tick %d was settled with hash %016x; the oracle has %016x", n,
				out.hashes[n], hashes[n])
		}
	}
	got := out.confirmed
	if len(got) > len(events) { // it may have settled a tick more
		got = got[:len(events)]
	}
	a, b := slices.Clone(got), slices.Clone(events)
	order := func(x, y happening) int {
		return cmp.Or(cmp.Compare(x.Tick, y.Tick), cmp.Compare(x.By, y.By),
			cmp.Compare(x.Ordinal, y.Ordinal))
	}
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	if !slices.Equal(a, b) {
		return fmt.Errorf("confirmed were\n%v\nand happened were\n%v", a, b)
	}
	return nil
}

// mustPlay plays a script and compares with the oracle.
func mustPlay(t testing.TB, m maker, s script, end world.Tick) *outcome {
	t.Helper()
	start := begin(t)
	out, err := play(start, m, []member.ID{1, 2}, s, end, nil)
	if err == nil {
		err = judge(start, out, end)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%v", m.name, err, s)
	}
	return out
}

// talk makes a script of what mirrors stamp, tick by tick, with delays: each has its players, who
// do as do says.
type talk struct {
	ticks   world.Tick
	mirrors int
	players int // of each mirror
	do      func(p world.Player, n world.Tick) (act, bool)
	delay   func(m member.ID, n world.Tick) time.Duration
	waits   bool // with promises
}

func (k talk) script() script {
	var s script
	for m := member.ID(1); int(m) <= k.mirrors; m++ {
		seq := uint32(0)
		for n := world.Tick(1); n <= k.ticks; n++ {
			when := at(n)
			if k.delay != nil {
				when += k.delay(m, n)
			}
			send := func(c timeline.Command) {
				if c.Kind != timeline.Promise {
					seq++
				}
				c.Tick, c.Origin, c.Seq = n, m, seq
				s = append(s, arrival{at: when, Command: c})
			}
			for i := range k.players {
				p := world.Player(int(m-1)*k.players + i + 1)
				if n == 1 {
					send(timeline.Command{Kind: timeline.Join, Player: p})
				}
				if a, ok := k.do(p, n); ok {
					send(timeline.Command{Player: p, Image: image(a)})
				}
			}
			if k.waits {
				send(timeline.Command{Kind: timeline.Promise})
			}
		}
		if k.waits { // and then it is silent for good
			s = append(s,
				arrival{at: at(k.ticks) + time.Second,
					Command: timeline.Command{
						Kind: timeline.Promise, Tick: k.ticks + 300, Origin: m, Seq: seq}})
		}
	}
	return s
}
