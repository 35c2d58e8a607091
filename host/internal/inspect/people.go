//go:build !js

package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A Person is someone who has a seat.
type Person struct {
	Client    uint64       `json:"client,string"`
	Player    world.Player `json:"player"` // 0 for who only watches
	Name      string       `json:"name"`
	Spectator bool         `json:"spectator"`
	Away      bool         `json:"away"`
	// Of the connection.
	RoundTrip float64 `json:"round_trip_ms"`
	Jitter    float64 `json:"jitter_ms"`
	LossIn    float64 `json:"loss_in"`
	LossOut   float64 `json:"loss_out"`
	Queue     float64 `json:"queue_ms"`
	Sent      uint64  `json:"sent_bytes"`
	Received  uint64  `json:"received_bytes"`
	Rate      int     `json:"rate"`  // bytes a second that may be sent
	Limit     int     `json:"limit"` // that the path was seen to carry, or 0
	InFlight  int     `json:"in_flight"`
	// Of commands: how many ticks the newest came before it was needed, and what became of them.
	Early    float64 `json:"early_ticks"`
	Taken    uint64  `json:"commands_taken"`
	Late     uint64  `json:"commands_late"`
	Repeated uint64  `json:"commands_repeated"`
	// Of prediction, as the client says: ticks ahead, ticks computed again in a second, busy.
	Ahead     float64 `json:"ahead_ticks"`
	Predicted int     `json:"predicted_again"`
	Busy      float64 `json:"busy"`
	// Of what is shown: bases that the client asked for anew, and packets that it could not use.
	Repairs uint64 `json:"repairs"`
	Rejects uint64 `json:"rejects"`
}

// A People is who there is.
type People struct {
	Most   int      `json:"most_players"`
	People []Person `json:"people"`
}

func peopleOf(s *server.Server) People {
	out := People{Most: s.MostPlayers(), People: []Person{}}
	for seat := range s.Seats {
		out.People = append(out.People, personOf(seat))
	}
	return out
}

// sort puts players first, by their numbers.
func (p *People) sort() {
	slices.SortFunc(p.People, func(x, y Person) int {
		return cmp.Or(-cmp.Compare(min(x.Player, 1), min(y.Player, 1)),
			cmp.Compare(x.Player, y.Player), cmp.Compare(x.Client, y.Client))
	})
}

func personOf(seat *server.Seat) Person {
	q, l, f, c := seat.Quality(), seat.Ledger(), seat.Predicts(), seat.Commands()
	repairs, rejects := seat.Unused()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Person{
		Client: seat.Client, Player: seat.Player, Name: seat.Name, Spectator: seat.Spectator(),
		Away: seat.Away(), RoundTrip: ms(q.RoundTrip), Jitter: ms(q.Jitter), LossIn: q.LossIn,
		LossOut: q.LossOut, Queue: ms(q.Queue), Sent: l.Total(), Received: l.Received,
		Rate: q.Rate, Limit: q.Limit, InFlight: q.InFlight, Early: float64(c.Early) / 4,
		Taken: c.Taken, Late: c.Late, Repeated: c.Repeated, Ahead: float64(f.Ahead) / 16,
		Predicted: int(f.Again), Busy: f.Share(), Repairs: repairs, Rejects: rejects,
	}
}
