package lab

import (
	"fmt"
	"time"
)

// ServerResult is what serving a game cost with one strategy on so many cores. The JSON names are for scripts and stay.
type ServerResult struct {
	Strategy string `json:"strategy"`
	Procs    int    `json:"procs"`
	Players  int    `json:"players"`
	Rate     int    `json:"rate"`      // ticks a second
	Rated    int    `json:"snapshots"` // a second and client, as asked for
	Relay    bool   `json:"relay"`
	// Pace is how fast time went, and Seconds how much of it passed.
	Pace    float64 `json:"pace"`
	Seconds float64 `json:"seconds"`
	Ticks   uint64  `json:"ticks"`

	// Tick is the server's processor time for a tick, in milliseconds, and Stages what it went to. The stages are measured by the clock and scaled to the
	// processor time, of which others on the machine cannot take anything.
	Tick   float64      `json:"ms_per_tick"`
	Stages ServerStages `json:"ms_per_tick_by_stage"`
	// Share is the part of one core that the server took, with all that it does between ticks.
	Share float64 `json:"share_of_core"`
	// Work is the share that commands and encoding took: receiving and encoding, as a part of a tick's time.
	Work float64 `json:"share_commands_and_encoding"`
	// PerPlayer is Tick for each player, in microseconds.
	PerPlayer float64 `json:"us_per_player_and_tick"`
	// TickMedian, Tick99 and TickMost are processor milliseconds of single ticks, Budget is how many a tick has.
	TickMedian float64 `json:"ms_tick_median"`
	Tick99     float64 `json:"ms_tick_p99"`
	TickMost   float64 `json:"ms_tick_most"`
	Budget     float64 `json:"ms_budget"`
	// EncodeAlone is how many milliseconds of the clock interest and encoding took while the bots kept still, in the quickest tenth of ticks, if there are several
	// numbers of cores to compare. Speedup compares it with the same strategy on one core.
	EncodeAlone float64 `json:"ms_encode_alone,omitempty"`
	Speedup     float64 `json:"encode_speedup,omitempty"`
	// Allocs is how many allocations the whole process made in a tick.
	Allocs float64 `json:"allocs_per_tick"`

	// Down and Up are bytes a client and second, without IP and UDP. Purposes has those of Down by what they were for, down to the classes of the game,
	// and Booked is their sum, which the ledger has; it equals Down.
	Down     float64            `json:"down_bytes_per_client_second"`
	Up       float64            `json:"up_bytes_per_client_second"`
	Purposes map[string]float64 `json:"down_by_purpose"`
	Booked   float64            `json:"down_booked"`
	// Inside says what the bytes of snapshots were for.
	Inside map[string]float64 `json:"snapshots_by_purpose"`
	// DownRatio compares Down with that of coeval on as many cores, where both were measured; SnapshotRatio the same for the bytes of snapshots alone.
	DownRatio     float64 `json:"down_against_coeval,omitempty"`
	SnapshotRatio float64 `json:"snapshots_against_coeval,omitempty"`

	// Snapshots is how many a client got in a second, Sizes how many bytes they had and Packets how many packets each took.
	Snapshots float64 `json:"snapshots_per_client_second"`
	Mean      float64 `json:"snapshot_bytes"`
	Sizes     sizes   `json:"snapshot_sizes"`
	Packets   float64 `json:"packets_per_snapshot"`
	// Others and Entities are how many other players, and things of any kind, a client had in view.
	Others   float64 `json:"others_in_view"`
	Entities float64 `json:"entities_in_view"`
	// Commands is the share of commands that were there when they were needed.
	Commands float64 `json:"commands_in_time"`
	// BotsShare is how much of a core the bots took, and Bad how many packets they could not use.
	BotsShare float64 `json:"bots_share_of_core"`
	Bad       uint64  `json:"bad"`
	Starved   uint64  `json:"starved"`
	Dropped   uint64  `json:"dropped"`
	Offences  uint64  `json:"offences"`

	// Limit is there if the most players were looked for.
	*ServerLimit
}

// ServerStages are the parts of a tick.
type ServerStages struct {
	Receive  float64 `json:"receive"`
	Step     float64 `json:"step"`
	Interest float64 `json:"interest"`
	Encode   float64 `json:"encode"`
	Send     float64 `json:"send"`
}

func (s *serverRun) result(players int, h *hostSample, b *botsSample) *ServerResult {
	g := s.o.Title.Game
	ticks, seconds := float64(max(h.Ticks, 1)), h.Wall.Seconds()
	perTick := func(d time.Duration) float64 { return milliseconds(d) / ticks }
	r := &ServerResult{
		Strategy: s.strategy, Procs: s.procs, Players: players, Rate: g.Rate(), Rated: s.o.Snapshots, Relay: s.o.Relay,
		Seconds: seconds, Ticks: h.Ticks, Tick: perTick(h.TickCPU), Share: h.CPU.Seconds() / seconds,
		TickMedian: milliseconds(h.TickMedian), Tick99: milliseconds(h.TickMost99), TickMost: milliseconds(h.TickMost),
		Budget: milliseconds(g.TickLength()), Allocs: float64(h.Allocs) / ticks,
		Purposes: map[string]float64{}, Inside: map[string]float64{}, Sizes: b.Sizes,
		Others: b.Others, Entities: b.Entities, BotsShare: b.CPU.Seconds() / b.Wall.Seconds(), Bad: b.Bad,
		Starved: h.Starved, Dropped: h.Dropped, Offences: h.Offences,
	}
	r.PerPlayer = r.Tick * 1000 / float64(players)
	if work := h.Stages.Work(); work > 0 {
		scale := float64(h.TickCPU) / float64(work) / ticks
		r.Stages = ServerStages{
			Receive: scale * milliseconds(h.Stages.Receive), Step: scale * milliseconds(h.Stages.Step), Interest: scale * milliseconds(h.Stages.Interest),
			Encode: scale * milliseconds(h.Stages.Encode), Send: scale * milliseconds(h.Stages.Send),
		}
	}
	r.Work = (r.Stages.Receive + r.Stages.Encode) / r.Budget
	clients := float64(players) * seconds
	r.Down, r.Up = float64(h.SentBytes)/clients, float64(h.ReceivedBytes)/clients
	for name, bytes := range h.Sent {
		r.Purposes[name] = float64(bytes) / clients
		r.Booked += float64(bytes) / clients
	}
	for name, bits := range h.Purposes {
		r.Inside[name] = bits / 8 / clients
	}
	r.Snapshots = float64(h.Snapshots) / clients
	r.Mean = float64(h.SnapshotBytes) / float64(max(h.Snapshots, 1))
	r.Packets = float64(h.Packets) / float64(max(h.Snapshots, 1))
	r.Commands = 1 - float64(h.Repeated)/(ticks*float64(players))
	return r
}

// Check returns an error if what was measured is not what was meant to be.
func (r *ServerResult) Check() error {
	name := fmt.Sprintf("%s, %d players", r.Strategy, r.Players)
	switch {
	case r.Booked < r.Down*0.9999 || r.Booked > r.Down*1.0001:
		return fmt.Errorf("%s: the ledger has %.1f bytes a client and second, the socket %.1f", name, r.Booked, r.Down)
	case r.Bad > 0:
		return fmt.Errorf("%s: the bots could not use %d packets or messages", name, r.Bad)
	case r.Dropped > 0:
		return fmt.Errorf("%s: the server dropped %d bots", name, r.Dropped)
	case r.ServerLimit == nil && r.Commands < 0.9:
		return fmt.Errorf("%s: only %.0f %% of the commands came in time: this machine is too busy, or the load too much for it", name, 100*r.Commands)
	}
	return nil
}

// compareRuns fills in what takes two results.
func compareRuns(results []ServerResult) {
	for i := range results {
		r := &results[i]
		for j := range results {
			o := &results[j]
			if o.Strategy == r.Strategy && o.Procs == 1 && r.Procs > 1 && r.EncodeAlone > 0 {
				r.Speedup = o.EncodeAlone / r.EncodeAlone
			}
			if o.Procs == r.Procs && o.Strategy == "coeval" && r.Strategy != "coeval" && o.Down > 0 {
				r.DownRatio = r.Down / o.Down
				r.SnapshotRatio = r.Mean * r.Snapshots / (o.Mean * o.Snapshots)
			}
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
