package bandwidthlab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Topology is a network with players on it, and where servers stand.
type Topology struct {
	Name string
	// About says what it is for, in a few words.
	About string
	*Delays
	// Players are the places of players. Server is that of the one server, Mirrors those of
	// mirrors.
	Players []int
	Server  int
	Mirrors []int
}

// The shapes of Figure 2.5, in milliseconds one way: round figures in the range that players have.
const (
	spokeLeast, spokeMost = 10, 43 // of a star; each further spoke is 3 longer
	nearby                = 10     // between players whose server is distant
	distant               = 100    // and to it
	inCluster, across     = 5, 60
	shapePlayers          = 12
)

// Topologies are the three of the paper's Figure 2.5, and the given cities, each with so many
// mirrors, or as many as suit it if that is zero.
func Topologies(cities *Delays, mirrors int) []Topology {
	star := shape(shapePlayers+1, func(i, j int) int {
		leg := func(i int) int {
			if i == shapePlayers {
				return 0 // the middle
			}
			return spokeLeast + 3*i
		}
		return leg(i) + leg(j)
	}, func(i int) string { return fmt.Sprint("spoke ", i+1) })
	star.Places[shapePlayers] = "middle"
	far := shape(shapePlayers+1, func(i, j int) int {
		if i == shapePlayers || j == shapePlayers {
			return distant
		}
		return nearby
	}, func(i int) string { return fmt.Sprint("home ", i+1) })
	far.Places[shapePlayers] = "far away"
	clusters := shape(shapePlayers, func(i, j int) int {
		if (i < shapePlayers/2) == (j < shapePlayers/2) {
			return inCluster
		}
		return across
	}, func(i int) string {
		return fmt.Sprintf("%s %d", []string{"east", "west"}[2*i/shapePlayers],
			i%(shapePlayers/2)+1)
	})

	some := upTo(shapePlayers)
	list := []Topology{
		{Name: "star", About: "the server in the middle of everyone", Delays: star, Players: some,
			Server:  shapePlayers,
			Mirrors: star.Medoids(some, upTo(shapePlayers+1), cmp.Or(mirrors, 3))},
		{Name: "distant server", About: "players near each other, the server far from all",
			Delays: far, Players: some, Server: shapePlayers,
			Mirrors: far.Medoids(some, some, cmp.Or(mirrors, 3))},
		{Name: "two clusters", About: "half of the players on each side of an ocean",
			Delays: clusters, Players: some,
			Mirrors: clusters.Medoids(some, some, cmp.Or(mirrors, 2))},
	}
	list[2].Server = clusters.Medoids(some, some, 1)[0]
	if cities != nil {
		all := upTo(len(cities.Places))
		list = append(list,
			Topology{Name: "cities", About: "one player in each city", Delays: cities, Players: all,
				Server:  cities.Medoids(all, all, 1)[0],
				Mirrors: cities.Medoids(all, all, cmp.Or(mirrors, 3))})
	}
	return list
}

func shape(n int, ms func(i, j int) int, name func(i int) string) *Delays {
	d := &Delays{}
	for i := range n {
		d.Places = append(d.Places, name(i))
		ways := make([]time.Duration, n)
		for j := range n {
			if i != j {
				ways[j] = time.Duration(ms(i, j)) * time.Millisecond
			}
		}
		d.Way = append(d.Way, ways)
	}
	return d
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// place names where a player is.
func (t *Topology) place(i int) string { return t.Places[t.Players[i]] }

// names of some places.
func (t *Topology) names(places []int) (out []string) {
	for _, p := range places {
		out = append(out, t.Places[p])
	}
	return out
}

// mirror is the nearest to a player, by its number among the mirrors.
func (t *Topology) mirror(player int) int {
	return slices.Index(t.Mirrors, t.Nearest(t.Players[player], t.Mirrors))
}

// Path is how long a command of one player is on the network until it can be known to another, with
// no time spent anywhere else.
func (t *Topology) Path(a Architecture, from, to int) time.Duration {
	i, j := t.Players[from], t.Players[to]
	switch a {
	case PeerToPeer:
		return t.Way[i][j]
	case Mirrored:
		x, y := t.Mirrors[t.mirror(from)], t.Mirrors[t.mirror(to)]
		return t.Way[i][x] + t.Way[x][y] + t.Way[y][j]
	}
	return t.Way[i][t.Server] + t.Way[t.Server][j]
}

// home is the mean round trip of players to their own server, in milliseconds.
func (t *Topology) home(a Architecture) float64 {
	var sum time.Duration
	for i, p := range t.Players {
		at := t.Server
		switch a {
		case PeerToPeer:
			at = p
		case Mirrored:
			at = t.Mirrors[t.mirror(i)]
		}
		sum += t.Way[p][at] + t.Way[at][p]
	}
	return lab.Millis(sum) / float64(len(t.Players))
}

// What the protocols add to the path, in ticks. A client's commands come comfort ticks before the
// tick that they are for. A snapshot, sent at each third tick, has a tick on average since what it
// tells of. What has come to a player's machine is seen with its next frame, half a tick later on
// average.
const (
	comfort      = 1.5
	snapshotWait = 1.0
	frameWait    = 0.5
)

// Computed is Path with the waits of the protocols added. Mirrors have the same ticks at the same
// time and send once a tick, one tick before the one that the commands are for; so a way between
// them that is longer than a tick makes the others late by whole ticks.
func (t *Topology) Computed(a Architecture, from, to int, tick time.Duration) time.Duration {
	ticks := func(n float64) time.Duration { return time.Duration(n * float64(tick)) }
	path := t.Path(a, from, to)
	switch a {
	case PeerToPeer:
		return path + ticks(frameWait)
	case Mirrored:
		x, y := t.Mirrors[t.mirror(from)], t.Mirrors[t.mirror(to)]
		between := t.Way[x][y]
		late := time.Duration(0)
		if between > tick {
			late = (between - 1) / tick * tick // ticks begun beyond the first
		}
		return path - between + late + ticks(comfort+snapshotWait+frameWait)
	}
	return path + ticks(comfort+snapshotWait+frameWait)
}

// over gathers something of all ordered pairs.
func (t *Topology) over(f func(from, to int) time.Duration) Latency {
	p := newPairs(len(t.Players))
	for i := range t.Players {
		for j := range t.Players {
			if i != j {
				p.add(i, j, f(i, j))
			}
		}
	}
	l := p.latency(t.place)
	l.Samples, l.SampleP95 = 0, 0
	return l
}
