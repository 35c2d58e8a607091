package server

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// What a world starts from, and its data's hash, as package game says.
type (
	Level     = game.Level
	LevelHash = game.LevelHash
)

// A scene is a world that is being played, with all that belongs to it alone.
type scene struct {
	level     Level
	hash      LevelHash
	world     *world.World
	publisher *replica.Publisher
	views     game.Views
	settled   world.Tick // as an engine said last
}

// newScene makes the world of a level. It takes as long as the game's OnStart does.
func (s *Server) newScene(l Level) (*scene, error) {
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	settings, err := s.opt.Title.Settings(l)
	if err != nil {
		return nil, err
	}
	settings.Develop = settings.Develop || s.opt.Develop
	w, err := s.game.TryNew(settings)
	if err != nil {
		return nil, err
	}
	g := &scene{level: l, hash: l.Hash(), world: w}
	if g.publisher, err = replica.NewPublisher(s.protocol, w); err != nil {
		return nil, err
	}
	if e, ok := s.engine.(*local); ok && e.resumed != nil {
		w = e.resumed // which is what is played
	}
	if g.views, err = s.opt.Title.NewViews(w, l); err != nil {
		return nil, err
	}
	return g, nil
}

// message tells a client of the level. The epoch is the client's own count of worlds.
func (g *scene) message(epoch uint32) wire.Message {
	return wire.Message{
		Kind: wire.Level, Epoch: epoch, Seed: g.level.Seed, Start: g.publisher.Start(),
		Tick: g.world.Tick(), Size: uint32(len(g.level.Data)), Data: g.hash, Name: g.level.Name}
}
