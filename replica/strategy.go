package replica

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/codec"
)

// A Strategy is a way to decide what a snapshot is a difference from. Coeval is part of this
// package. A program has one of the others if it imports the package of that name, for comparison.
type Strategy uint8

const (
	// Coeval takes for each entity the images that the client is known to hold of it.
	Coeval Strategy = iota
	// Quake3 takes one whole snapshot that the client acknowledged, as Quake III did:
	// replica/quake3.
	Quake3
	// Doom3 takes a base that both sides share, which reliable messages move on, as DOOM III did:
	// replica/doom3.
	Doom3
	// Quake takes one image of each entity that is told reliably once, as Quake did:
	// replica/quake.
	Quake
	// QuakeWorld takes the snapshot that the client acknowledged last, as QuakeWorld did:
	// replica/quakeworld.
	QuakeWorld
	// Quake2 takes the last frame that the client acknowledged, or sends a whole one if that is too
	// old, as Quake II did: replica/quake2.
	Quake2
	// Doom3Exact is Doom3 in the form of its paper, to see what that costs: fields against a common
	// value as well, what is in view as a string of bits, and all messages shortened. It is part of
	// replica/doom3.
	Doom3Exact
)

var strategyNames = [...]string{"coeval", "quake3", "doom3", "quake", "quakeworld", "quake2",
	"doom3exact"}

// StrategyCount is how many strategies there are.
const StrategyCount = len(strategyNames)

// Strategies are the names of all strategies, for command lines.
func Strategies() []string { return slices.Clone(strategyNames[:]) }

func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return fmt.Sprintf("Strategy(%d)", int(s))
}

// ParseStrategy finds a strategy by its name, for command lines. It fails for one that the program
// does not have.
func ParseStrategy(name string) (Strategy, error) {
	i := slices.Index(strategyNames[:], name)
	if i < 0 {
		last := len(strategyNames) - 1
		return 0, fmt.Errorf("unknown strategy %q: there are %s and %s", name,
			strings.Join(strategyNames[:last], ", "), strategyNames[last])
	}
	_, err := Strategy(i).scheme()
	return Strategy(i), err
}

// A Scheme is what a Strategy consists of. All else, such as views, budgets, events and packets,
// the strategies share, so that a comparison shows what the choice of the base makes of it and
// nothing else.
type Scheme struct {
	// Codec is how images are coded.
	Codec func(m *codec.Model) (codec.Strategy, error)
	// Sender makes the server's side for one client, and Receiver the client's.
	Sender   func(SenderState) SenderBases
	Receiver func(ReceiverState) ReceiverBases
	// Repeats says that whatever is told is told in every snapshot until it is known to be heard.
	// Otherwise it is told again when its packet is lost.
	Repeats bool
	// Frames says that bases are whole snapshots: what a packet tells of an entity stands on the
	// snapshot and not on what came before of the entity, and a client does not ask for single
	// entities anew.
	Frames bool
	// Lasting says that the first image of each entity can be found for as long as the entity is
	// there: FirstImage.
	Lasting bool
	// Views says that the strategy tells in each packet's header what is in view, so that what left
	// it is not said entity by entity: Arrived.InView.
	Views bool
	// Learns says that images are coded by tables, which may be others while a game runs.
	Learns bool
	// Shortens says that messages are coded by entropy.ZeroRuns.
	Shortens bool
	// Tail is how many bits more than usual a packet keeps free for what follows the entities,
	// where the codec may need more than it has counted so far.
	Tail int
}

var schemes = [len(strategyNames)]*Scheme{Coeval: {
	Codec:    func(m *codec.Model) (codec.Strategy, error) { return m.Strategy(), nil },
	Sender:   newKnown,
	Receiver: newKept,
	Learns:   true,
}}

// Register makes a strategy part of the program. The package of each does so when it is imported.
func Register(s Strategy, how Scheme) { schemes[s] = &how }

func (s Strategy) scheme() (*Scheme, error) {
	if int(s) >= len(schemes) {
		return nil, fmt.Errorf("unknown strategy %v", s)
	}
	if schemes[s] == nil {
		return nil, fmt.Errorf("strategy %v is not part of this program; import replica/%s in it",
			s, strings.TrimSuffix(s.String(), "exact"))
	}
	return schemes[s], nil
}
