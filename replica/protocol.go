package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a server and its clients must agree on, beyond the game
// itself. Both make the same Protocol of them, and compare its Hash.
type Options struct {
	// Strategy says how snapshots are made: Coeval, or for comparison Quake3 or Doom3. Default:
	// Coeval.
	Strategy Strategy
	// Tables are what Train made of recordings of the game (coeval codec train). Without them the
	// codec goes by the kinds of the fields alone.
	Tables []byte
	// Classes says more about some classes, by name.
	Classes map[string]Policy
	// NoRelay saves the bytes that the commands of other players take, for games that do not
	// predict them. Policy.NoRelay does it for a class.
	NoRelay bool
}

// A Policy says how entities of a class are sent. The zero Policy sends each
// change in the next snapshot.
//
// Interval, Far, Beyond, Takeover and TakenOver let a client fall behind: what it is not told of
// may have changed, and is not listed as deferred. A client that predicts such a class has to know
// that, by predict.Class.Sparse; package game sets both from what the class says of itself.
type Policy struct {
	// Interval is the least number of ticks between two updates of an entity, and Far the least for
	// one of low priority; between the two it grows as the priority falls from 1 to a tenth. Such
	// an entity may be behind without being listed as deferred.
	Interval, Far world.Tick
	// Beyond sends an entity again only once one of these fields differs by more than its threshold
	// from what the client was told, or any other field or the owner differs at all. The whole
	// image is sent then. What stays within all thresholds may stay untold for as long as it does:
	// small changes add up, but what comes to rest close to where the client was told it is stays
	// there. With Interval, an update has to wait for both.
	Beyond []Threshold
	// Takeover stops all updates of an entity once the client holds an image of it: from there the
	// client's own simulation is good enough.
	Takeover bool
	// TakenOver is asked whether clients go on with an entity by themselves from its present image
	// on, as with one that is dying: Takeover for a class whose entities differ. A client that was
	// told an image for which the answer was true is told no more until the answer is false, the
	// owner changes, or the entity is removed.
	//
	// The Publisher asks once for every image that it publishes, and for those of a world that was
	// taken back once more; not when the image stays as it is. The answer must depend on the world
	// alone, and nothing may be changed.
	TakenOver func(w *world.World, id world.ID) bool
	// NoRelay says that clients do not predict the class from its owner's commands, so that who
	// sees an entity of it is not relayed them on that account. Otherwise the levels of a player's
	// commands go to all who see something of that player's: where players can hide, set it for
	// whatever is seen when its owner is not, such as a line on a score board. Package game does
	// so by itself.
	NoRelay bool
	// Reckon predicts the class's images in integers, for the codec: see package reckon.
	Reckon func(h *codec.History, now []int32)
	// Rates says which fields are rates of which, by the names in the class's schema: {"Pos.X":
	// "Vel.X"}. Where none are given, fields whose names are those of a position and a velocity are
	// paired by themselves.
	Rates map[string]string
	// Kinds corrects what the codec takes a field for, by its name in the class's schema.
	Kinds map[string]codec.Kind
}

// Protocol is what a game and its options come to: how every class, command
// and event is coded. It never changes, and serves any number of senders and receivers.
type Protocol struct {
	game     *world.Game
	options  Options
	classes  []class
	commands int       // the class of commands; -1 if the game has none
	relays   bool      // commands of others are relayed, on account of some class
	starts   [][]int32 // by class: what an image is a difference from where nothing is known
	model    *codec.Model
	scheme   *Scheme
	coding   codec.Strategy
	idBits   uint // for the number of a class
	kindBits uint // for the number of a kind of event
	hash     uint64
}

// class is one kind of thing that is sent: a class or state of the game, or
// the commands of players.
type class struct {
	name   string
	fields int
	schema *bits.Schema
	policy Policy
	beyond *thresholds // nil if the policy has none
	sparse bool        // changes may stay untold
	parts  []part
}

// A part is a stretch of an image that the codec handles as one of its
// classes. Only images with more numbers than codec.MaxFields have several.
type part struct {
	class    int // of the codec
	from, to int
}

// NewProtocol makes the protocol of a game. It fails where the game is wrong,
// or the options speak of what it does not have. All that is wrong with policies is reported
// together.
func NewProtocol(g *world.Game, o Options) (*Protocol, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	p := &Protocol{game: g, options: o, commands: -1}
	schema := &codec.Schema{Name: g.Name()}
	known := map[string]bool{}
	var wrong []error
	for _, c := range g.Classes() {
		known[c.Name()] = true
		if err := p.add(schema, c.Name(), c.Schema(), o.Classes[c.Name()]); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Classes)) {
		if !known[name] {
			wrong = append(wrong,
				fmt.Errorf("replica: options for class %q, which the game %s does not "+
					"have; it has %v", name, g.Name(), slices.Sorted(maps.Keys(known))))
		}
	}
	if c := g.Commands(); c != nil {
		p.commands = len(p.classes)
		if err := p.add(schema, "command", c, Policy{}); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	p.relays = p.commands >= 0 && !o.NoRelay && slices.ContainsFunc(p.classes[:p.commands],
		func(c class) bool { return !c.policy.NoRelay })
	if len(schema.Classes) == 0 {
		return nil, fmt.Errorf("replica: the game %s has no classes, so there is nothing to send",
			g.Name())
	}
	var err error
	if o.Tables != nil {
		p.model, err = codec.LoadTables(schema, o.Tables)
	} else {
		p.model, err = codec.Default(schema)
	}
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	if p.scheme, err = o.Strategy.scheme(); err == nil {
		p.coding, err = p.scheme.Codec(p.model)
	}
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	for _, c := range p.classes {
		var start []int32
		for _, part := range c.parts {
			start = append(start, p.model.Start(part.class)...)
		}
		p.starts = append(p.starts, start[:c.fields])
	}
	p.idBits = width(len(p.classes))
	p.kindBits = width(len(g.Events()))
	p.hash = p.sum()
	return p, nil
}

// width is how many bits tell n things apart.
func width(n int) uint {
	b := uint(0)
	for 1<<b < n {
		b++
	}
	return b
}

func (p *Protocol) sum() uint64 {
	h := fnv.New64a()
	var b [8]byte
	number := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	number(p.game.Hash())
	number(uint64(p.options.Strategy))
	if p.options.NoRelay {
		number(1)
	} else {
		number(0)
	}
	model := p.model.Hash()
	h.Write(model[:])
	for i := range p.classes {
		c := &p.classes[i]
		number(uint64(c.policy.Interval))
		number(uint64(c.policy.Far))
		if c.policy.Takeover {
			number(1)
		}
	}
	// What came later is added where it is used, so that other protocols keep their hash.
	for i := range p.classes {
		c := &p.classes[i]
		if c.policy.TakenOver != nil {
			fmt.Fprintf(h, "taken over %d\n", i)
		}
		for _, b := range c.policy.Beyond {
			fmt.Fprintf(h, "beyond %d %q %x\n", i, b.Field, math.Float64bits(b.By))
		}
	}
	return h.Sum64()
}

// Hash tells whether two machines understand each other's packets: it covers
// the game's declarations, the options and the codec's tables.
func (p *Protocol) Hash() uint64 { return p.hash }

// Game is what the protocol is for.
func (p *Protocol) Game() *world.Game { return p.game }

// Strategy is how its snapshots are made.
func (p *Protocol) Strategy() Strategy { return p.options.Strategy }

// Model is how its images are coded, to train or to save tables.
func (p *Protocol) Model() *codec.Model { return p.model }

func (p *Protocol) start(class int32) []int32 { return p.starts[class] }

// Oversize lists the classes whose images might not fit into a packet of so many bytes, for authors
// to be told while they develop a game. Such an entity is sent if it happens to fit, and otherwise
// left out.
func (p *Protocol) Oversize(packet int) []string {
	var names []string
	for i := range p.classes {
		n := tailBits + 256
		for _, s := range p.classes[i].schema.Slots {
			n += 2 + mathbits.Len32(uint32(s.Max)-uint32(s.Min))
		}
		if n > packet*8 {
			names = append(names, p.classes[i].name)
		}
	}
	return names
}
