package route

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"pgregory.net/rapid"
)

const (
	dead  = 500 * time.Millisecond
	step  = 10 * time.Millisecond
	delay = 3 // steps that a state takes to arrive
)

// net is some tables whose states travel over lines that may be cut, each direction by itself.
// Whoever hears a member passes on the states of all others that it knows.
type net struct {
	now    time.Duration
	tables map[member.ID]*Table
	ids    []member.ID
	cut    map[pair]bool
	air    []flight
	quiet  bool // nothing but states is sent
}

type flight struct {
	pair
	at     time.Duration
	states []State // the first is of who sends it
}

func newNet(n int) *net {
	s := &net{now: time.Second, tables: map[member.ID]*Table{}, cut: map[pair]bool{}}
	for id := member.ID(1); int(id) <= n; id++ {
		s.ids = append(s.ids, id)
		s.tables[id] = New(Options{Self: id, Dead: dead})
	}
	for _, t := range s.tables {
		t.Members(s.now, s.ids)
	}
	return s
}

func (s *net) run(d time.Duration) {
	for end := s.now + d; s.now < end; {
		s.now += step
		rest := s.air[:0:0]
		for _, f := range s.air {
			if f.at > s.now {
				rest = append(rest, f)
				continue
			}
			t := s.tables[f.to]
			t.Say(s.now, &f.states[0])
			for i := range f.states[1:] {
				t.Pass(s.now, &f.states[i+1])
			}
		}
		s.air = rest
		for _, id := range s.ids {
			s.turn(id)
		}
	}
}

func (s *net) turn(id member.ID) {
	t := s.tables[id]
	t.Tick(s.now)
	due := t.Due(s.now)
	own := State{}
	if due {
		own = t.State(s.now)
	}
	for _, to := range s.ids {
		if to == id || s.cut[pair{id, to}] {
			continue
		}
		if !s.quiet && s.now%(50*time.Millisecond) == 0 {
			s.tables[to].Heard(s.now, id)
		}
		if !due {
			continue
		}
		f := flight{pair{id, to}, s.now + delay*step, []State{clone(&own)}}
		for _, other := range s.ids {
			if k := t.Known(other); k != nil && other != to {
				f.states = append(f.states, clone(k))
			}
		}
		s.air = append(s.air, f)
	}
}

func clone(s *State) State {
	c := *s
	c.Hears = append([]Hearing(nil), s.Hears...)
	return c
}

func (s *net) joined(a, b member.ID) bool { return !s.cut[pair{a, b}] && !s.cut[pair{b, a}] }

// hops is how many lines a datagram takes from one member to another as the tables send it, or
// zero if it does not arrive.
func (s *net) hops(from, to member.ID) int {
	at := from
	for n := 1; n <= len(s.ids); n++ {
		hop, ok := s.tables[at].Next(to)
		if !ok || !s.joined(at, hop) {
			return 0
		}
		if at = hop; at == to {
			return n
		}
	}
	return 0
}

// distance is how many it should take.
func (s *net) distance(from, to member.ID) int {
	far := map[member.ID]int{from: 0}
	for list := []member.ID{from}; len(list) > 0; list = list[1:] {
		for _, next := range s.ids {
			if _, seen := far[next]; !seen && s.joined(list[0], next) {
				far[next] = far[list[0]] + 1
				list = append(list, next)
			}
		}
	}
	return far[to]
}

// TestShortestWays: whichever lines are cut, a while later all ways are the shortest that there
// are, and nobody is reached who cannot be.
func TestShortestWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newNet(rapid.IntRange(2, 7).Draw(t, "members"))
		s.quiet = rapid.Bool().Draw(t, "quiet")
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			s.run(time.Duration(rapid.IntRange(0, 2000).Draw(t, "pause")) * time.Millisecond)
			share := rapid.IntRange(0, 9).Draw(t, "share")
			for _, a := range s.ids {
				for _, b := range s.ids {
					s.cut[pair{a, b}] = rapid.IntRange(0, 9).Draw(t, "cut") < share
				}
			}
		}
		s.run(3 * time.Second)
		for _, a := range s.ids {
			for _, b := range s.ids {
				if a == b {
					continue
				}
				_, ok := s.tables[a].Next(b)
				if want := s.distance(a, b); ok != (want > 0) || s.hops(a, b) != want {
					t.Fatalf("from %d to %d: %d lines, known %v, want %d", a, b, s.hops(a, b), ok,
						want)
				}
			}
		}
	})
}

// TestStoppedMember: one that was stopped for a while does not take it for the silence of others.
func TestStoppedMember(t *testing.T) {
	s := newNet(3)
	s.run(2 * time.Second)
	one := s.tables[1]
	s.now += 10 * time.Second
	if one.Tick(s.now); one.Detours() != 0 {
		t.Errorf("%d members are not reached", one.Detours())
	}
}

// FuzzState: what is no state is refused, and what is one is written as it was read.
func FuzzState(f *testing.F) {
	c := bits.CursorTo(nil)
	s := State{Member: 2, Number: 9, Hears: []Hearing{{1, true, 3}, {3, false, 127}}}
	s.Fields(&c)
	f.Add(c.Data())
	f.Fuzz(func(t *testing.T, b []byte) {
		var s State
		in := bits.CursorOver(b)
		if s.Fields(&in); !in.Done() {
			return
		}
		out := bits.CursorTo(nil)
		if s.Fields(&out); string(out.Data()) != string(b) {
			t.Errorf("%x is written as %x", b, out.Data())
		}
		table := New(Options{Self: 1})
		table.Members(1, []member.ID{1, 2, 3, s.Member})
		table.Say(1, &s)
		table.Pass(2, &s)
		table.Tick(time.Second)
		table.Lines()
	})
}

// TestScenarios plays the conversations in testdata/scenarios. The commands:
//
//	members N             so many members, all of which reach each other
//	cut A B... [one-way]  nothing passes between A and each B, or from A to it
//	heal                  everything passes
//	run DURATION          let time pass; what changes is shown
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(*testing.T) func(simtest.Line, *strings.Builder) {
		var s *net
		ways := map[pair]string{}
		return func(l simtest.Line, out *strings.Builder) {
			switch l.Verb {
			case "members":
				s = newNet(l.Int(0))
			case "cut":
				for i := range l.Args[1:] {
					if l.Args[i+1] == "one-way" {
						continue
					}
					a, b := member.ID(l.Int(0)), member.ID(l.Int(i+1))
					s.cut[pair{a, b}] = true
					s.cut[pair{b, a}] = s.cut[pair{b, a}] || !l.Is("one-way")
				}
			case "heal":
				clear(s.cut)
			case "run":
				for end := s.now + l.Duration(0); s.now < end; {
					s.run(step)
					s.show(ways, out)
				}
			default:
				l.Fail("no such command")
			}
		}
	})
}

// show tells what has changed.
func (s *net) show(ways map[pair]string, out *strings.Builder) {
	for _, id := range s.ids {
		for _, l := range s.tables[id].Lines() {
			text := fmt.Sprintf("%d reaches %d over %d", id, l.Member, l.Via)
			switch l.Via {
			case 0:
				text = fmt.Sprintf("%d does not reach %d", id, l.Member)
			case l.Member:
				text = fmt.Sprintf("%d reaches %d directly", id, l.Member)
			}
			key := pair{id, l.Member}
			if was, known := ways[key]; known && was != text {
				fmt.Fprintf(out, "%6v  %s\n", s.now-time.Second, text)
			}
			ways[key] = text
		}
	}
}
