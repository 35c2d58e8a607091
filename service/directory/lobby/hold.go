package lobby

import (
	"slices"
	"time"
)

// Holds are seats of servers that are kept for players on their way, until they come or it has
// taken them too long. So two rooms are not given the same seats.
type Holds struct{ of map[string]*holding }

// A holding is what is held at one server.
type holding struct {
	players int // when it was last seen
	list    []hold
}

type hold struct {
	seats int
	until time.Duration
}

// Free is how many seats of a server nobody is in or on the way to. Each player more than were seen
// before is one who was on the way; those who came while others left are counted twice until their
// time is over, so it errs to the safe side.
func (h *Holds) Free(now time.Duration, id string, players, capacity int) int {
	x := h.of[id]
	if x == nil {
		return max(capacity-players, 0)
	}
	came := players - x.players
	x.players = players
	for i := range x.list {
		n := min(max(came, 0), x.list[i].seats)
		x.list[i].seats -= n
		came -= n
	}
	x.list = slices.DeleteFunc(x.list, func(o hold) bool { return o.seats == 0 || now >= o.until })
	n := 0
	for _, o := range x.list {
		n += o.seats
	}
	if n == 0 {
		delete(h.of, id)
	}
	return max(capacity-players-n, 0)
}

// Hold keeps seats of a server that has players now.
func (h *Holds) Hold(id string, seats, players int, until time.Duration) {
	if h.of == nil {
		h.of = map[string]*holding{}
	}
	x := h.of[id]
	if x == nil {
		x = &holding{players: players}
		h.of[id] = x
	}
	if x.list = append(x.list, hold{seats, until}); len(x.list) > mostHolds {
		x.list[1].seats += x.list[0].seats
		x.list = x.list[1:]
	}
}

// mostHolds bounds what is remembered of a server. Older ones are held as long as the next.
const mostHolds = 1024

// Tick forgets what is over.
func (h *Holds) Tick(now time.Duration) {
	for id, x := range h.of {
		x.list = slices.DeleteFunc(x.list, func(o hold) bool { return now >= o.until })
		if len(x.list) == 0 {
			delete(h.of, id)
		}
	}
}

// A Candidate is a server at which a match could be.
type Candidate struct {
	ID      string
	Regions []string // of its places
	Free    int
}

// unknownTrip is taken for the round trip to a region that somebody has not measured, in
// milliseconds.
const unknownTrip = 150

// Choose finds the server with room for all players for whom the worst round trip is the shortest;
// of several the one with the least room, so that large groups find some elsewhere. It is -1 if
// none has room.
func Choose(players []Player, region string, list []Candidate) int {
	best, least := -1, 0
	for i := range list {
		c := &list[i]
		if c.Free < len(players) {
			continue
		}
		cost := 2 * worst(players, c.Regions)
		if region != "" && !slices.Contains(c.Regions, region) {
			cost++ // of two that are as near the one that the rule named
		}
		if best < 0 || cost < least || cost == least && (c.Free < list[best].Free ||
			c.Free == list[best].Free && c.ID < list[best].ID) {
			best, least = i, cost
		}
	}
	return best
}

// worst is the longest round trip of any player, each to the region nearest to them.
func worst(players []Player, regions []string) (out int) {
	for i := range players {
		out = max(out, nearest(&players[i], regions))
	}
	return out
}

// nearest is the shortest round trip of a player. Those who have measured nothing do not mind.
func nearest(p *Player, regions []string) int {
	if len(p.Trips) == 0 {
		return 0
	}
	least := unknownTrip
	for i, r := range regions {
		t, ok := p.Trips[r]
		if !ok {
			t = unknownTrip
		}
		if i == 0 || t < least {
			least = t
		}
	}
	return least
}
