package lobby_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// seeds is how many evenings are played.
func seeds(some int) int {
	if n, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil {
		return n
	}
	return some
}

// An evening is a lobby with people who do anything at any time, and what each of them was told.
type evening struct {
	*rand.Rand
	l       *lobby.Lobby
	now     time.Duration
	codes   []string
	open    []lobby.Order
	heard   map[uint64]*lobby.Mine // what each makes of what they were told
	waits   map[uint64]bool
	starts  map[uint64]int
	kicked  map[string]map[uint64]bool
	ordered map[uint64]bool
}

const people = 24

func newEvening(seed uint64) *evening {
	e := &evening{Rand: rand.New(rand.NewPCG(seed, 1)), heard: map[uint64]*lobby.Mine{},
		waits: map[uint64]bool{}, starts: map[uint64]int{}, kicked: map[string]map[uint64]bool{},
		ordered: map[uint64]bool{}}
	e.l = lobby.New(lobby.Options{Random: e.Uint64, MostRooms: 6, MostFrom: 10,
		Rule: func(game string) lobby.Matcher {
			switch game {
			case "tanks":
				return lobby.Sized{Size: 4}
			case "wild":
				return wild{e.Rand}
			}
			return nil
		}, Regions: func(string, string) []string { return []string{"north", "south"} }})
	return e
}

// wild is a rule with mistakes of every kind.
type wild struct{ *rand.Rand }

func (w wild) Match(waiting []lobby.Unit, _ []string) (out []lobby.Group) {
	for range w.IntN(3) {
		var g lobby.Group
		for range w.IntN(4) {
			g.Units = append(g.Units, w.IntN(len(waiting)+2)-1)
		}
		out = append(out, g)
	}
	if w.IntN(8) == 0 {
		panic("an author's mistake")
	}
	return out
}

func (e *evening) who() lobby.Who {
	n := 1 + e.Uint64N(people)
	return lobby.Who{Client: n, From: netip.AddrFrom4([4]byte{10, 0, 0, byte(n % 3)}),
		Anonymous: n%2 == 0}
}

func (e *evening) code() string {
	if len(e.codes) == 0 || e.IntN(20) == 0 {
		return "QQQQQQ"
	}
	return e.codes[e.IntN(len(e.codes))]
}

func (e *evening) me() lobby.Profile {
	return lobby.Profile{Name: fmt.Sprint(e.IntN(9)), Skill: e.IntN(500),
		Trips: map[string]int{"north": e.IntN(200), "south": e.IntN(200)}}
}

// act does one thing.
func (e *evening) act() error {
	w, game := e.who(), []string{"tanks", "wild", "chess"}[e.IntN(3)]
	switch e.IntN(16) {
	case 0, 1:
		r, err := e.l.Make(e.now, w, lobby.Setup{Game: game, Most: 1 + e.IntN(5),
			Teams: e.IntN(3), Public: e.IntN(2) == 0}, e.me())
		if err == nil {
			e.codes = append(e.codes, r.Code)
		}
		return err
	case 2, 3, 4:
		code := e.code()
		r, err := e.l.Join(e.now, w, code, e.me())
		if err == nil && e.kicked[code][w.Client] {
			return fmt.Errorf("%d was removed and is in %+v again", w.Client, r)
		}
		return err
	case 5:
		return e.l.Leave(e.now, w, e.code())
	case 6:
		ready, team := e.IntN(2) == 0, e.IntN(4)
		_, err := e.l.Set(e.now, w, e.code(), lobby.Me{Ready: &ready, Team: &team})
		return err
	case 7:
		return e.l.Say(e.now, w, e.code(), "hello")
	case 8:
		whom, code := e.who().Client, e.code()
		_, err := e.l.Kick(e.now, w, code, whom)
		if err == nil {
			if e.kicked[code] == nil {
				e.kicked[code] = map[uint64]bool{}
			}
			e.kicked[code][whom] = true
		}
		return err
	case 9:
		_, err := e.l.Start(e.now, w, e.code(), e.IntN(2) == 0)
		return err
	case 10, 11:
		_, err := e.l.Enqueue(e.now, w, game, "", e.me())
		if err == nil {
			e.waits[w.Client] = true
		}
		return err
	case 12:
		_, err := e.l.EnqueueRoom(e.now, w, e.code())
		return err
	case 13:
		return e.l.Dequeue(e.now, w)
	case 14:
		return e.l.Listen(e.now, w, e.IntN(2) == 0)
	}
	e.l.Ping(e.now, w)
	return nil
}

// hear has everyone hear what they are told.
func (e *evening) hear() {
	for _, c := range e.l.Changes() {
		for _, to := range c.To {
			if e.heard[to] == nil {
				e.heard[to] = &lobby.Mine{}
			}
			for range 1 + e.IntN(2) { // a line that is heard twice is taken once
				e.heard[to].Hear(c.Data)
			}
			switch x := c.Data.(type) {
			case lobby.Queued:
				e.waits[to] = !x.Gone
			case lobby.Start:
				e.starts[to]++
				delete(e.waits, to)
			}
		}
	}
}

// serve finds servers for orders, or does not.
func (e *evening) serve(all bool) {
	for _, o := range e.l.Orders() {
		if e.ordered[o.ID] {
			panic("an order was given twice")
		}
		e.ordered[o.ID] = true
		e.open = append(e.open, o)
	}
	for len(e.open) > 0 && (all || e.IntN(3) == 0) {
		o := e.open[0]
		e.open = e.open[1:]
		if !all && e.IntN(3) == 0 {
			e.l.Fail(e.now, o.ID, "full")
			continue
		}
		starts := map[uint64]*lobby.Start{}
		for _, p := range o.Players {
			starts[p.Client] = &lobby.Start{Match: o.Match()}
		}
		e.l.Fulfil(e.now, o.ID, starts)
		e.l.Fulfil(e.now, o.ID, starts) // a second time does nothing
	}
}

// told compares what people were told with how it is.
func (e *evening) told() error {
	for n := uint64(1); n <= people; n++ {
		from := netip.AddrFrom4([4]byte{10, 0, 0, byte(n % 3)})
		is := e.l.Ping(e.now, lobby.Who{Client: n, From: from})
		told := e.heard[n]
		if told == nil {
			told = &lobby.Mine{}
		}
		if !reflect.DeepEqual(told.Room, is.Room) {
			return fmt.Errorf("%d was told %+v, and it is %+v", n, told.Room, is.Room)
		}
		if (told.Queue == nil) != (is.Queue == nil) || told.Queue != nil &&
			(told.Queue.Matched != is.Queue.Matched || told.Queue.Why != is.Queue.Why) {
			return fmt.Errorf("%d was told %+v, and it is %+v", n, told.Queue, is.Queue)
		}
		if is.Queue == nil && e.waits[n] {
			return fmt.Errorf("%d waits and is lost", n)
		}
	}
	return nil
}

// TestEvenings: whatever people do, nobody is in two rooms or lost, every room has a host, nobody
// comes back who was removed, and everyone is told how it is.
func TestEvenings(t *testing.T) {
	var done, refused, started int
	for seed := range uint64(seeds(300)) {
		e := newEvening(seed)
		for step := range 300 {
			err := e.act()
			var no *lobby.Error
			if err != nil && !errors.As(err, &no) {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if done++; err != nil {
				refused++
			}
			e.serve(false)
			if e.IntN(4) == 0 {
				e.now += time.Duration(e.IntN(4000)) * time.Millisecond
				e.l.Tick(e.now)
			}
			e.hear()
			if err := errors.Join(e.l.Check()); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if step%25 == 24 {
				if err := e.told(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
		e.serve(true)
		for n := uint64(1); n <= people; n++ {
			for range 4 {
				_ = e.l.Listen(e.now, lobby.Who{Client: n}, false) // none is left
			}
		}
		for range 40 { // all are silent
			e.now += time.Second
			e.l.Tick(e.now)
			e.serve(true)
		}
		if rooms, there, waiting := e.l.Size(); rooms+there+waiting != 0 {
			t.Fatalf("seed %d: %d rooms, %d people, %d who wait are left", seed, rooms, there,
				waiting)
		}
		for _, n := range e.starts {
			started += n
		}
	}
	t.Logf("%d things done, %d of them refused; %d went to play", done, refused, started)
	if started < seeds(300) {
		t.Errorf("only %d went to play: this shows little", started)
	}
}
