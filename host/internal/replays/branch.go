//go:build !js

package replays

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// A change is what a player did otherwise: some fields of the commands of some ticks. The JSON
// names are the page's.
type change struct {
	Film   int              `json:"film"`
	Player world.Player     `json:"player"`
	From   world.Tick       `json:"from"`
	Ticks  world.Tick       `json:"ticks"`
	Set    map[string]int32 `json:"set"` // numbers of the command's image, by name
	Silent bool             `json:"silent"`
}

// branch makes a film of what would have been.
func (s *site) branch(w http.ResponseWriter, r *http.Request) error {
	var c change
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return badf("what is to be otherwise is not readable: %v", err)
	}
	r.Form = map[string][]string{"film": {fmt.Sprint(c.Film)}}
	f, err := s.film(r, "film")
	if err != nil {
		return err
	}
	b, err := f.branch(&c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	n := 0
	for _, f := range s.films {
		if f != nil && f.origin != nil {
			n++
		}
	}
	s.mu.Unlock()
	if n >= mostBranches {
		return badf("there are %d of what would have been; close one first", n)
	}
	return reply(w, map[string]int{"film": s.show(b)})
}

// branch makes a film in which a player does something else.
func (f *film) branch(c *change) (*film, error) {
	schema := f.seeker.Header().Commands
	if schema == nil {
		return nil, badf("%s has no commands that could be others", f.title.Name())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Ticks = max(1, c.Ticks)
	if c.From <= f.seeker.First() || c.From > f.seeker.Last() {
		return nil, badf("tick %d is not among %d to %d, whose commands can be others", c.From,
			f.seeker.First()+1, f.seeker.Last())
	}
	var text []string
	set := map[int]int32{}
	for i := range schema.Slots {
		slot := &schema.Slots[i]
		if v, ok := c.Set[slot.Name]; ok {
			if v < slot.Min || v > slot.Max {
				return nil, badf("%s is %d; it must be from %d to %d", slot.Name, v, slot.Min,
					slot.Max)
			}
			set[i] = v
			text = append(text, fmt.Sprintf("%s=%d", slot.Name, v))
		}
	}
	if len(set) != len(c.Set) || len(set) == 0 && !c.Silent {
		return nil, badf("name at least one field of a command, of those that there are")
	}
	until := c.From + c.Ticks - 1
	if c.Ticks > math.MaxInt32 {
		until = world.Tick(math.MaxInt64)
	}
	image := make([]int32, len(schema.Slots))
	change := func(t world.Tick, in *world.Inputs) error {
		if t > until {
			return nil
		}
		if c.Silent || !in.Image(c.Player, image) {
			for i := range image {
				image[i] = schema.Slots[i].Absent
			}
		}
		for i, v := range set {
			image[i] = v
		}
		return in.GiveImage(c.Player, image)
	}
	what := "had done " + strings.Join(text, " ")
	if c.Silent {
		what = "had been at rest"
		if len(text) > 0 {
			what += " but for " + strings.Join(text, " ")
		}
	}
	return &film{title: f.title, name: f.name, origin: f, from: c.From, hashed: f.hashed,
		note: fmt.Sprintf("what if player %d %s for %d ticks from %d on", c.Player, what,
			c.Ticks, c.From),
		seeker: f.seeker.Branch(c.From, change)}, nil
}

// forget closes what would have been.
func (s *site) forget(w http.ResponseWriter, r *http.Request) error {
	f, err := s.film(r, "film")
	if err != nil {
		return err
	}
	if f.origin == nil {
		return badf("%s is a recording, and stays", f.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.films {
		if s.films[i] == f {
			s.films[i] = nil
		}
	}
	f.stop()
	return reply(w, map[string]bool{"done": true})
}
