package kept

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Declare is the line of world.Define for a game of which something is kept. Which fields are,
// classes say by their method Kept; the parts are kinds of requests, made by Request.
func Declare(parts ...Part) world.Declaration {
	p := &plan{}
	return func(g *world.Game) error {
		p.game = g
		all := []world.Declaration{
			world.State[clerk](world.ClassOptions{Name: "kept.clerk"}),
			world.Class[guest](world.ClassOptions{Name: "kept.guest"}),
			world.Class[request](world.ClassOptions{Name: "kept.request"}),
			world.Answer(p.born), world.Answer(p.met), world.Answer(p.loaded), world.Answer(p.lost),
			world.Answer(p.answered), world.AfterLeave(p.left), world.Attach(planKey{}, p),
		}
		var wrong []error
		for _, declare := range all {
			wrong = append(wrong, declare(g))
		}
		for _, part := range parts {
			wrong = append(wrong, part(p))
		}
		return errors.Join(wrong...)
	}
}

// A Part is one kind of request, made by Request.
type Part func(*plan) error

type planKey struct{}

// A plan is all that is kept of a game.
type plan struct {
	game  *world.Game
	kinds []*requestKind

	once    sync.Once
	err     error
	classes []*class
	numbers [256]*class // by the number of the class in the game
	types   map[reflect.Type]*class
}

// planOf finds the plan of a game, or nil if it declares none.
func planOf(g *world.Game) (*plan, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	p, _ := g.Attached(planKey{}).(*plan)
	if p == nil {
		for _, info := range g.Classes() {
			if _, ok := info.New().(Keeper); ok {
				return nil, fmt.Errorf("class %s has a method Kept, which counts only with "+
					"kept.Declare() among the parts of world.Define", info.Name())
			}
		}
		return nil, nil
	}
	p.once.Do(p.examine)
	return p, p.err
}

// examine asks all classes. That is not possible while the game is being defined.
func (p *plan) examine() {
	p.types = map[reflect.Type]*class{}
	var wrong []error
	for _, info := range p.game.Classes() {
		c, bad := readClass(info)
		for _, err := range bad {
			wrong = append(wrong, fmt.Errorf("class %s: %w", info.Name(), err))
		}
		if c != nil {
			if info.State() && c.Scope != Thing {
				wrong = append(wrong, fmt.Errorf("class %s: a state belongs to nobody; call Thing",
					info.Name()))
			}
			p.classes = append(p.classes, c)
			p.numbers[info.Number()], p.types[c.typ] = c, c
		}
	}
	p.err = errors.Join(wrong...)
}

// at is the plan in a world, whose game has been checked.
func at(w *world.World) *plan {
	p, _ := planOf(w.Game())
	return p
}

func (p *plan) named(name string) *class {
	for _, c := range p.classes {
		if c.Class == name {
			return c
		}
	}
	return nil
}

// Uses says whether anything is kept of a game. The error is what is wrong with its declarations.
func Uses(g *world.Game) (bool, error) {
	p, err := planOf(g)
	return p != nil, err
}

// Schemas are those of a game's classes: what Store.Schema is told, by their numbers.
func Schemas(g *world.Game) (map[uint64]string, error) {
	p, err := planOf(g)
	if p == nil || err != nil {
		return nil, err
	}
	out := map[uint64]string{}
	for _, c := range p.classes {
		out[c.hash] = c.Text()
		session := sessionOf(c.Scope)
		out[session.Hash()] = session.Text()
	}
	out[prunedSchema.Hash()] = prunedSchema.Text()
	return out, nil
}

// clerk is what a world knows of its store. World tells it from all others.
type clerk struct {
	World uint64 `world:"server"`
}

func (*clerk) Sync(*bits.Sync) {}

// A guest is a player of whom the world knows the account. Clients are told that there is one.
type guest struct {
	Account string `world:"server"`
	Since   world.Tick
}

func (g *guest) Sync(s *bits.Sync) { bits.Integer(s, &g.Since, 0, 1<<64-1) }

// Of finds the account of a player. It is not known in the first ticks after a join, and never on
// clients.
func Of(w *world.World, p world.Player) (account string, ok bool) {
	_, g := world.Owned[guest](w, p)
	if g == nil || g.Account == "" {
		return "", false
	}
	return g.Account, true
}

// What comes in beside answers of the store. Kinds of inputs are known by their types.
type (
	keptWorld struct{ World uint64 }
	keptGuest struct {
		Player  uint16
		Account string
	}
	keptLoaded struct {
		Epoch  uint64
		Failed string
		Patch  []byte
	}
	keptLost   struct{ Epoch uint64 }
	keptAnswer struct{ Data []byte }
)

const (
	maxName   = 128
	maxReason = 256
	maxAnswer = 32 << 10
)

func (b *keptWorld) Sync(s *bits.Sync) { s.Uint64(&b.World, 0, 1<<64-1) }

func (g *keptGuest) Sync(s *bits.Sync) {
	s.Uint16(&g.Player, 0, 1<<16-1)
	s.String(&g.Account, maxName)
}

func (l *keptLoaded) Sync(s *bits.Sync) {
	s.Uint64(&l.Epoch, 0, 1<<64-1)
	s.String(&l.Failed, maxReason)
	s.Bytes(&l.Patch, maxAnswer)
}

func (l *keptLost) Sync(s *bits.Sync)   { s.Uint64(&l.Epoch, 0, 1<<64-1) }
func (a *keptAnswer) Sync(s *bits.Sync) { s.Bytes(&a.Data, maxAnswer) }

// born takes the number of the world, once.
func (*plan) born(w *world.World, _ world.Name, b *keptWorld) {
	if c := world.StateOf[clerk](w); c.World == 0 {
		c.World = b.World
	}
}

// met takes the account of a player, and loads what waits for it.
func (*plan) met(w *world.World, _ world.Name, g *keptGuest) {
	p := world.Player(g.Player)
	if !w.Present(p) {
		return
	}
	_, known := world.Owned[guest](w, p)
	if known == nil {
		id := world.Spawn(w, guest{Account: g.Account, Since: w.Tick()})
		w.SetOwner(id, p)
	} else {
		known.Account = g.Account
	}
	for _, c := range at(w).classes {
		if c.Scope != Account {
			continue
		}
		for id := range w.Host().Of(c.info.Number()) {
			if m := markOf(w, c, id); m.state == wanted && m.of == "" && w.Owner(id) == p {
				m.of, m.asked = g.Account, w.Tick()
				w.Host().PointOut(id)
			}
		}
	}
}

// left forgets a player's account.
func (*plan) left(w *world.World, p world.Player) {
	for id := range world.All[guest](w) {
		if w.Owner(id) == p {
			w.Remove(id)
		}
	}
}
