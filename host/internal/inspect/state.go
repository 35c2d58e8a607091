//go:build !js

package inspect

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A State is how a server is at one moment. The JSON names are for other programs, and stay.
type State struct {
	Game        string     `json:"game"`
	Level       string     `json:"level"`
	Seconds     float64    `json:"seconds"` // since the inspector was made
	Tick        world.Tick `json:"tick"`
	Rate        int        `json:"rate"`
	Ticks       uint64     `json:"ticks"` // that were computed since the start
	Paused      bool       `json:"paused"`
	Draining    bool       `json:"draining"`
	Failed      string     `json:"failed"`
	Players     int        `json:"players"`
	Spectators  int        `json:"spectators"`
	Away        int        `json:"away"`
	Connections int        `json:"connections"`
	Most        int        `json:"most_players"`
	Entities    int        `json:"entities"`
	// Stages are seconds since the start, and Last milliseconds of the last tick.
	Stages  Stages  `json:"stages"`
	Last    Stages  `json:"last_ms"`
	Traffic Traffic `json:"traffic"`
	Process Process `json:"process"`
	Looking Looking `json:"looking"`
}

// Stages are how long the parts of ticks took. Interest and Encode are sums over all cores, and
// Elapsed is by the clock.
type Stages struct {
	Receive  float64 `json:"receive"`
	Step     float64 `json:"step"`
	Interest float64 `json:"interest"`
	Encode   float64 `json:"encode"`
	Send     float64 `json:"send"`
	Elapsed  float64 `json:"elapsed"`
}

func stagesOf(t *server.Times, unit time.Duration) Stages {
	in := func(d time.Duration) float64 { return float64(d) / float64(unit) }
	return Stages{in(t.Receive), in(t.Step), in(t.Interest), in(t.Encode), in(t.Send),
		in(t.Elapsed())}
}

// A Process is what the whole program takes.
type Process struct {
	Goroutines int     `json:"goroutines"`
	Heap       uint64  `json:"heap_bytes"`
	Memory     uint64  `json:"memory_bytes"` // from the system
	Allocated  uint64  `json:"allocated_bytes"`
	Objects    uint64  `json:"allocated_objects"`
	Collected  uint64  `json:"collections"`
	CPU        float64 `json:"cpu_seconds"` // of the program's own code, collection included
	Cores      int     `json:"cores"`
}

// processNow asks the runtime; it stops nothing.
func processNow() Process {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/allocs:objects"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(s)
	return Process{Goroutines: runtime.NumGoroutine(), Heap: s[0].Value.Uint64(),
		Memory: s[1].Value.Uint64(), Allocated: s[2].Value.Uint64(), Objects: s[3].Value.Uint64(),
		Collected: s[4].Value.Uint64(), CPU: processorTime(), Cores: runtime.GOMAXPROCS(0)}
}

// Looking is what it costs that someone looks: processor time where that is known, and else time.
type Looking struct {
	Watchers int     `json:"watchers"`
	Looks    uint64  `json:"looks"`
	Seconds  float64 `json:"seconds"` // in all, of the goroutine that drives the game
	MostMS   float64 `json:"most_ms"`
}

// state asks for all that the page shows all the time.
func (i *Inspector) state(s *server.Server) State {
	st, n, t := s.Stats(), s.Population(), s.Last()
	out := State{
		Game: i.opt.Game.Title.Name(), Level: s.Level().Name,
		Seconds: time.Since(i.begun).Seconds(), Rate: i.opt.Game.Title.Game.Rate(),
		Ticks: st.Ticks, Paused: s.Paused(), Draining: s.Draining(), Players: n.Players,
		Spectators: n.Spectators, Away: n.Away, Connections: n.Connections,
		Most: s.MostPlayers(), Stages: stagesOf(&st.Times, time.Second),
		Last: stagesOf(&t, time.Millisecond), Traffic: trafficOf(s, &st),
	}
	if err := s.Failed(); err != nil {
		out.Failed = err.Error()
	} else {
		out.Tick = s.World().Tick()
		for range s.World().Entities() {
			out.Entities++
		}
	}
	return out
}

// complete adds what is not the server's.
func (i *Inspector) complete(s *State) {
	s.Process = processNow()
	i.looks.mu.Lock()
	defer i.looks.mu.Unlock()
	s.Looking = Looking{Watchers: int(i.watchers.Load()), Looks: i.looks.count,
		Seconds: i.looks.spent.Seconds(), MostMS: float64(i.looks.most) / 1e6}
}
