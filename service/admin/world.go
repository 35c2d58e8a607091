package admin

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// WorldRequest asks for the world of a group of mirrors: what is settled now, or the last one of a
// group that halts.
type WorldRequest struct {
	Final bool `json:"final,omitempty"`
}

// A World is the answer: a game as it was after a tick, with all that another program needs to go
// on with it. It holds the world's secrets.
type World struct {
	Tick  uint64      `json:"tick"`
	Hash  string      `json:"hash"`
	Level WorldLevel  `json:"level"`
	Seats []WorldSeat `json:"seats"`
	// Declared is what the game declares, as world.Declared writes it.
	Declared []byte `json:"declared"`
	// Epoch is the number of the group's last decree, Key, Build and Upgrades as Group has them.
	Epoch    uint32 `json:"epoch"`
	Key      []byte `json:"key"`
	Build    string `json:"build"`
	Upgrades uint64 `json:"upgrades"`
	// StillMS is for how long the world has stood still when this was asked for.
	StillMS float64 `json:"still_ms"`
	// World is the saved world.
	World []byte `json:"world"`
}

// A WorldLevel is a level of a World.
type WorldLevel struct {
	Name   string `json:"name"`
	Seed   uint64 `json:"seed,string"`
	Secret uint64 `json:"secret,string"`
	Data   []byte `json:"data,omitempty"`
}

// A WorldSeat is a player of a World.
type WorldSeat struct {
	Client   uint64       `json:"client,string"`
	Player   world.Player `json:"player"`
	Name     string       `json:"name"`
	UserData []byte       `json:"user_data,omitempty"`
	Inside   bool         `json:"inside"`
}

// world answers with the world. The mirror copies it between two ticks, and it is encoded after.
func (a *API) world(c *call) (any, error) {
	var q WorldRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	var s *keep.Snapshot
	out := &World{}
	err := a.group(c, func(m Halter) (err error) {
		h := m.Halting()
		if q.Final {
			s, err = m.Final()
		} else {
			s, err = m.Present()
		}
		_, epoch := m.Decree()
		out.Epoch, out.StillMS = uint32(epoch), h.Still.Seconds()*1000
		return notNow(err)
	})
	if err != nil {
		return nil, err
	}
	g := a.game.Group
	out.Key, out.Build, out.Upgrades = g.Key, g.Build, g.Upgrades
	out.Tick, out.Hash = uint64(s.World.Tick()), fmt.Sprintf("%016x", s.World.Hash())
	out.Level = WorldLevel{s.Level.Name, s.Level.Seed, s.Level.Secret, s.Level.Data}
	out.Seats = make([]WorldSeat, 0, len(s.Seats))
	for _, x := range s.Seats {
		out.Seats = append(out.Seats, WorldSeat{x.Client, x.Player, x.Name, x.UserData, x.Inside})
	}
	out.Declared = s.World.Game().Declared().Text()
	out.World = s.World.Host().Save(nil)
	return out, nil
}

// Of is the level that it is of.
func (l *WorldLevel) Of() game.Level {
	return game.Level{Name: l.Name, Seed: l.Seed, Secret: l.Secret, Data: l.Data}
}
