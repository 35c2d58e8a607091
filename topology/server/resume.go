package server

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Saved is a game at one moment, with everyone who has a seat: what a server leaves to the one that
// takes its place, such as after an update. Those who had a seat come back to it by the number in
// their token, as after a lost connection.
type Saved struct {
	Level Level
	// World is what world.Host.Save wrote. Without it, the level begins anew, with the same seats.
	World []byte
	Seats []SavedSeat
}

// A SavedSeat is one person's.
type SavedSeat struct {
	Client   uint64
	Player   world.Player
	Name     string
	UserData []byte
	// Inside says that the world knows the player.
	Inside bool
}

// Save is the game between two ticks. What players have pressed and the world has not heard is not
// in it. A server that has an engine of another kind has nothing to save.
func (s *Server) Save() (*Saved, error) {
	if _, ok := s.engine.(*local); !ok {
		return nil, errEngine
	}
	if s.failed.err != nil {
		return nil, s.failed.err
	}
	out := &Saved{Level: s.scene.level, World: s.scene.world.Host().Save(nil)}
	out.Seats = s.AppendSeats(nil)
	for i := range out.Seats {
		out.Seats[i].UserData = slices.Clone(out.Seats[i].UserData)
	}
	return out, nil
}

// AppendSeats adds the seats of all players to a list, in the order of their numbers, as Save would
// have them: for who keeps them at every tick. What is in them must be left as it is.
func (s *Server) AppendSeats(to []SavedSeat) []SavedSeat {
	for _, seat := range s.players[1:] {
		if seat != nil {
			to = append(to, SavedSeat{
				Client: seat.Client, Player: seat.Player, Name: seat.Name, UserData: seat.UserData,
				Inside: seat.inside && s.scene.world.Present(seat.Player),
			})
		}
	}
	return to
}

// Fits says whether a title can go on with what was saved: with its level, and with the world as it
// was. Another version of a game may have lost the level, or have other classes and fields.
func (v *Saved) Fits(t *game.Title) (level, world error) {
	if _, err := t.Settings(v.Level); err != nil {
		return err, err
	}
	_, err := t.Game.Load(v.World)
	return nil, err
}

// maxSeats bounds the numbers of players that are taken from what was saved.
const maxSeats = 10000

// resume has the engine begin with a world that was saved.
func (l *local) resume(g *world.Game, v *Saved) (err error) {
	if v == nil {
		return nil
	}
	if len(v.World) > 0 {
		if l.resumed, err = g.Load(v.World); err != nil {
			return fmt.Errorf("server: to go on: %w", err)
		}
	}
	for _, x := range v.Seats {
		if x.Player == world.Nobody || x.Player > maxSeats {
			return fmt.Errorf("server: to go on: a seat of player %d", x.Player)
		}
		for len(l.taken) <= int(x.Player) {
			l.taken = append(l.taken, false)
		}
		if l.taken[x.Player] {
			return fmt.Errorf("server: to go on: player %d has two seats", x.Player)
		}
		l.taken[x.Player] = true
	}
	return nil
}

// takeSeats keeps the seats that were saved, as of people whose connection was lost.
func (s *Server) takeSeats(v *Saved) {
	if v == nil {
		return
	}
	for _, x := range v.Seats {
		seat := &Seat{
			Client: x.Client, Player: x.Player, Name: x.Name, UserData: x.UserData,
			since: s.now, away: s.now,
			inside: x.Inside && len(v.World) > 0 && s.scene.world.Present(x.Player),
		}
		for len(s.players) <= int(x.Player) {
			s.players = append(s.players, nil)
		}
		s.seats[x.Client], s.players[x.Player] = seat, seat
	}
}
