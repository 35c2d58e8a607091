package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// A Sight is what a player's client showed of others when it made a command. Servers know it within
// bounds, and give it along with the command, so that a shot is judged by what the shooter saw:
// alone, on a server, on mirrors, in a copy that was taken back, and in a replay. Its numbers count
// back from the tick of the command. The zero Sight shows others as they are.
type Sight struct {
	// Ago is how long before, in sixteenths of a tick: what a client shows that interpolates.
	Ago uint16
	// Base is how many ticks before the newest snapshot is that the client is known to have. What
	// it predicts follows from that one, so a claim counts between there and now.
	Base uint16
	// Claims are what the client showed of things that it saw itself hit. Those after the first
	// Claimed are nothing.
	Claims  [MaxClaims]Claim
	Claimed uint8
}

// MaxClaims is how many things one command can be seen to hit.
const MaxClaims = 4

// A Claim says where a client showed an entity: how far from the shot that was seen to hit it, in
// steps of the field that is its class's place.
type Claim struct {
	Target ID
	Place  [3]int32
}

// list are the claims that are some.
func (s *Sight) list() []Claim { return s.Claims[:s.Claimed] }

// Add adds a claim. It is false if there are as many as there may be.
func (s *Sight) Add(c Claim) bool {
	if s.Claimed >= MaxClaims {
		return false
	}
	s.Claims[s.Claimed] = c
	s.Claimed++
	return true
}

// errSight says what a sight may not be. What it says of a class is said by check.
var errSight = errors.New("world: a sight that no client of this game can have had")

// CheckSight says what is wrong with a sight, if no client of the game can have had it.
func (g *Game) CheckSight(s *Sight) error {
	switch {
	case g.rewinds == 0:
		return fmt.Errorf("%w: nothing in %q can be rewound; give a class a method Rewind",
			errSight, g.name)
	case Tick(s.Ago) > 16*g.rewinds || Tick(s.Base) > g.rewinds:
		return fmt.Errorf("%w: %.1f ticks ago, from %d ticks ago; at most %d are remembered",
			errSight, float64(s.Ago)/16, s.Base, g.rewinds)
	case s.Claimed > MaxClaims:
		return fmt.Errorf("%w: %d claims, at most %d count", errSight, s.Claimed, MaxClaims)
	}
	for i, c := range s.Claims {
		if i >= int(s.Claimed) {
			if c != (Claim{}) {
				return fmt.Errorf("%w: a claim beyond the last", errSight)
			}
			continue
		}
		r := g.rewound(c.Target)
		if r == nil {
			return fmt.Errorf("%w: a claim on %v, which cannot be rewound", errSight, c.Target)
		}
		for k, v := range c.Place {
			if k >= len(r.slots) {
				if v != 0 {
					return fmt.Errorf("%w: a place of too many numbers", errSight)
				}
			} else if most := r.most(k); float64(v) < -most || float64(v) > most {
				return fmt.Errorf("%w: a place of %v outside of its range", errSight, c.Target)
			}
		}
	}
	return nil
}

// A saw is what was shown with a command of a tick, if that was said.
type saw struct {
	Sight
	given bool
}

// Sync writes or reads a sight. Whether it makes sense is checked by whoever takes it in. Most have
// no claims.
func (s *Sight) Sync(y *bits.Sync) {
	y.Uint16(&s.Ago, 0, 1<<16-1)
	y.Uint16(&s.Base, 0, 1<<10-1)
	y.Uint8(&s.Claimed, 0, MaxClaims)
	for i := range s.Claims[:min(s.Claimed, MaxClaims)] {
		c := &s.Claims[i]
		bits.Integer(y, &c.Target, 0, 1<<64-1)
		for k := range c.Place {
			y.Int32(&c.Place[k], -1<<31, 1<<31-1)
		}
	}
}

// Show says what a player's client showed when it made the command that is given. Where nothing is
// said, it is what was shown with the command before, without its claims; so say it where it has
// changed by as much as matters, and copies of a world that guess a command guess its sight. The
// error is that of a player without a command, or of a sight that nobody can have had; then nothing
// is said.
func (in *Inputs) Show(p Player, s Sight) error {
	i, found := in.find(p)
	if !found {
		return fmt.Errorf("world: player %d gives no command, so nothing was seen with it", p)
	}
	if err := in.game.CheckSight(&s); err != nil {
		return err
	}
	for len(in.sights) < len(in.players) {
		in.sights = append(in.sights, saw{})
	}
	in.sights[i] = saw{s, true}
	return nil
}

// Sight is what Show said of a player, and whether it did.
func (in *Inputs) Sight(p Player) (Sight, bool) {
	if i, found := in.find(p); found && len(in.sights) > 0 {
		return in.sights[i].Sight, in.sights[i].given
	}
	return Sight{}, false
}

// see takes over what was shown to a player with the i-th command; below 0, with the last again.
func (w *World) see(p Player, in *Inputs, i int) {
	if len(w.sights) == 0 {
		return
	}
	s := &w.sights[p]
	if i >= 0 && len(in.sights) > 0 && in.sights[i].given {
		*s = in.sights[i].Sight
	} else if s.Claimed > 0 { // what was hit was hit once
		*s = Sight{Ago: s.Ago, Base: s.Base}
	}
}

// Compare orders sights, where two are said of one command and all copies must choose the same.
func (s *Sight) Compare(o *Sight) int {
	return cmp.Or(cmp.Compare(s.Ago, o.Ago), cmp.Compare(s.Base, o.Base),
		cmp.Compare(s.Claimed, o.Claimed),
		slices.CompareFunc(s.Claims[:], o.Claims[:], func(a, b Claim) int {
			return cmp.Or(cmp.Compare(a.Target, b.Target), slices.Compare(a.Place[:], b.Place[:]))
		}))
}

// Sight is what a player's client showed of others when it made the command that counts at present.
// It is zero where that is not known, or where others are shown as they are.
func (w *World) Sight(p Player) Sight {
	if int(p) < len(w.sights) {
		return w.sights[p]
	}
	return Sight{}
}
