package tunnel

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A Tape is what players did in a match, tick by tick: bots on one machine, or people in matches
// that were recorded. So decisions are the same for all architectures. It is played again and again
// where it is too short, and by several, each from another moment on, where there are too few.
type Tape struct {
	players [][][]int32 // images of commands, by player and tick; nil where none was given
}

// Record has bots play on one machine, and keeps what they do.
func Record(s *lab.Subject, players, ticks int, seed uint64) (*Tape, error) {
	if s.Game.Commands() == nil {
		return nil, errors.New("a title without commands has nothing to record")
	}
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	t := &Tape{players: make([][][]int32, players)}
	image := make([]int32, len(s.Game.Commands().Slots))
	for range ticks {
		if err := m.Prepare(); err != nil {
			return nil, err
		}
		for p := range players {
			var kept []int32
			if m.In.Image(world.Player(p+1), image) {
				kept = append(kept, image...)
			}
			t.players[p] = append(t.players[p], kept)
		}
		if err := m.World.Host().Step(m.In); err != nil {
			return nil, fmt.Errorf("recording at tick %d: %w", m.World.Tick(), err)
		}
	}
	return t, nil
}

// ReadTape takes from traces what those who play in them command: of each at most some ticks, from
// the first command on, and of all those who play longest. Whether the traces' worlds are what the
// title's rules make of it does not matter, only that its commands are the same.
func ReadTape(s *lab.Subject, files []string, players, ticks int) (*Tape, error) {
	var all [][][]int32
	for _, name := range files {
		list, err := readPeople(s, name, ticks)
		if err != nil {
			return nil, fmt.Errorf("trace %s: %w", name, err)
		}
		all = append(all, list...)
	}
	least := s.Game.Rate()
	all = slices.DeleteFunc(all, func(p [][]int32) bool { return len(p) < least })
	if len(all) == 0 {
		return nil, errors.New("in the traces nobody plays for a second or longer: record a match, " +
			"by serve --record or play --record")
	}
	slices.SortStableFunc(all, func(a, b [][]int32) int { return cmp.Compare(len(b), len(a)) })
	return &Tape{players: all[:min(len(all), players)]}, nil
}

// readPeople reads what each who plays in a trace commands. A trace that ends early is read as far
// as it goes.
func readPeople(s *lab.Subject, name string, ticks int) (all [][][]int32, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := trace.Open(f)
	if err != nil {
		return nil, err
	}
	mine, h := s.Game.Commands(), r.Header()
	if h.Game != s.Game.Name() {
		return nil, fmt.Errorf("it is of %q, and %q is played", h.Game, s.Game.Name())
	}
	if h.Commands == nil || mine == nil || h.Commands.Hash() != mine.Hash() {
		return nil, errors.New("its commands are others than the game has now: record it anew")
	}
	now := map[world.Player]*person{}
	coder := turns.NewCoder(s.Game)
	end := func(p *person) {
		if p != nil {
			all = append(all, p.images)
		}
	}
	for {
		rec, err := r.Next()
		if err == io.EOF || errors.Is(err, trace.ErrCut) {
			break
		} else if err != nil {
			return nil, err
		}
		for _, p := range rec.Leaves {
			end(now[p])
			delete(now, p)
		}
		for i, p := range rec.Players {
			if now[p] == nil {
				now[p] = &person{begin: rec.Tick}
			}
			now[p].add(coder, rec.Tick, rec.Command(i), ticks)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(now)) {
		end(now[p])
	}
	return all, nil
}

// A person is somebody who plays in a trace.
type person struct {
	begin  world.Tick
	images [][]int32
}

// add notes a command. Where there was none the last was repeated.
func (p *person) add(c *turns.Coder, t world.Tick, image []int32, most int) {
	for n := int(t - p.begin); len(p.images) < min(n, most); {
		again := slices.Clone(p.images[len(p.images)-1])
		c.Repeat(again)
		p.images = append(p.images, again)
	}
	if len(p.images) < most {
		p.images = append(p.images, slices.Clone(image))
	}
}

// play gives a player's command for a tick.
func (t *Tape) play(player int, tick world.Tick, me world.Player, in *world.Inputs) error {
	list := t.players[player%len(t.players)]
	later := len(list) * (player / len(t.players)) * 5 / 13 // not the same at the same time
	if image := list[(int(tick)+later)%len(list)]; image != nil {
		return in.GiveImage(me, image)
	}
	return nil
}

// Who says who the players of a run are.
func Who(open bool, traces []string) string {
	switch {
	case len(traces) > 0:
		return "Players do what was done in " + strings.Join(traces, ", ") + ", whatever they see."
	case open:
		return "Players do what bots did on one machine, whatever they see."
	}
	return "Players are bots that act on what they are shown."
}

// Who says who the players are.
func (r *Result) Who() string { return Who(r.Open, r.Traces) }

// hash tells tapes apart.
func (t *Tape) hash() uint64 {
	h := fnv.New64a()
	var b []byte
	for _, p := range t.players {
		b = binary.AppendUvarint(b[:0], uint64(len(p)))
		for _, image := range p {
			b = binary.AppendUvarint(b, uint64(len(image)))
			for _, v := range image {
				b = binary.AppendVarint(b, int64(v))
			}
		}
		h.Write(b)
	}
	return h.Sum64()
}
