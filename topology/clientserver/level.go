package clientserver

import (
	"crypto/sha256"
	"fmt"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A Level is what a world starts from: the map, by whatever name the game gives it. Clients are told its name and seed; who does not have its data is sent it.
type Level struct {
	// Name is what players read, and what the game may find the map by. At most 128 bytes.
	Name string
	// Seed is what chance hangs on. Clients know it.
	Seed uint64
	// Secret is what the chance hangs on that players must not foresee. It never leaves the server.
	Secret uint64
	// Data is the map itself, if it is not part of the program: up to 64 MiB. Clients know it by its hash, so one that has it already is not sent it.
	Data []byte
}

// A LevelHash identifies the data of a level.
type LevelHash [32]byte

// Hash identifies the level's data. It is zero if there is none.
func (l *Level) Hash() LevelHash {
	if len(l.Data) == 0 {
		return LevelHash{}
	}
	return sha256.Sum256(l.Data)
}

// maxLevel is what a transfer may be.
const maxLevel = 64 << 20

func (l *Level) check() error {
	switch {
	case len(l.Name) > wire.MaxLabel || !wire.Showable([]byte(l.Name)):
		return fmt.Errorf("clientserver: level name %q: want at most %d bytes that can be shown", wire.Clip(l.Name, 40), wire.MaxLabel)
	case len(l.Data) > maxLevel:
		return fmt.Errorf("clientserver: level %q has %d bytes of data, at most %d can be sent; let clients bring it with the program", l.Name, len(l.Data), maxLevel)
	}
	return nil
}

// SettingsFunc makes the settings of a world from a level: it parses the map and says which states the world starts with. Server and clients must be given
// the same; it may be called from any of them. The seed and the secret are filled in by the caller.
type SettingsFunc func(Level) (world.Settings, error)

func (f SettingsFunc) settings(l Level) (world.Settings, error) {
	var s world.Settings
	if f != nil {
		var err error
		if s, err = f(l); err != nil {
			return s, fmt.Errorf("clientserver: level %q: %w", l.Name, err)
		}
	}
	s.Seed, s.Secret, s.Partial = l.Seed, l.Secret, false
	return s, nil
}

// A stage is a world that is being played, with all that belongs to it alone.
type stage struct {
	level     Level
	hash      LevelHash
	world     *world.World
	publisher *replica.Publisher
	views     Views
	settled   world.Tick // as an engine said last
}

// newStage makes the world of a level. It takes as long as the game's OnStart does.
func (s *Server) newStage(l Level) (*stage, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	settings, err := s.opt.Settings.settings(l)
	if err != nil {
		return nil, err
	}
	settings.Develop = settings.Develop || s.opt.Develop
	w, err := s.game.New(settings)
	if err != nil {
		return nil, err
	}
	g := &stage{level: l, hash: l.Hash(), world: w}
	if g.publisher, err = replica.NewPublisher(s.protocol, w); err != nil {
		return nil, err
	}
	if s.opt.Interest.Views == nil {
		g.views = newPlainViews(&s.opt.Interest)
	} else if g.views, err = s.opt.Interest.Views(w, l); err != nil {
		return nil, err
	}
	return g, nil
}

// message tells a client of the level. The epoch is the client's own count of worlds.
func (g *stage) message(epoch uint32) wire.Message {
	return wire.Message{Kind: wire.Level, Epoch: epoch, Seed: g.level.Seed, Start: g.publisher.Start(), Tick: g.world.Tick(), Size: uint32(len(g.level.Data)), Data: g.hash, Name: g.level.Name}
}
