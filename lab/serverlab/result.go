package serverlab

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Results are those of several strategies and numbers of cores.
type Results []Result

// Result is what serving a game cost with one strategy on so many cores. The JSON names are for
// scripts and stay.
type Result struct {
	Setting
	Time
	Traffic
	Shown
	Health
	*Limit // if the most players were looked for
}

// Setting is what was measured.
type Setting struct {
	Strategy string `json:"strategy" head:"strategy"`
	Procs    int    `json:"procs" head:"cores"`
	Players  int    `json:"players" head:"players"`
	Rate     int    `json:"rate"`      // ticks a second
	Rated    int    `json:"snapshots"` // a second and client, as asked for
	Relay    bool   `json:"relay"`
	// Pace is how fast time went, and Seconds how much of it passed.
	Pace    float64 `json:"pace"`
	Seconds float64 `json:"seconds"`
	Ticks   uint64  `json:"ticks"`
}

// Time is what the server's process used.
type Time struct {
	// Tick is the server's processor time for a tick, in milliseconds, and Spent what it went to.
	// These are measured by the clock and scaled to the processor time, of which others on the
	// machine cannot take anything.
	Tick  float64  `json:"ms_per_tick" head:"tick ms" as:"%.2f"`
	Spent TickTime `json:"ms_per_tick_by_stage"`
	// Share is the part of one core that the server took, with all that it does between ticks.
	Share float64 `json:"share_of_core" head:"share of a core" as:"%.2f"`
	// Work is the share that commands and encoding took: receiving and encoding, as a part of a
	// tick's time.
	Work float64 `json:"share_commands_and_encoding" head:"work" as:"%.2f"`
	// PerPlayer is Tick for each player, in microseconds.
	PerPlayer float64 `json:"us_per_player_and_tick" head:"µs a player" as:"%.2f"`
	// TickMedian, Tick99 and TickMost are processor milliseconds of single ticks, Budget is how
	// many a tick has.
	TickMedian float64 `json:"ms_tick_median"`
	Tick99     float64 `json:"ms_tick_p99" head:"p99 ms" as:"%.2f"`
	TickMost   float64 `json:"ms_tick_most"`
	Budget     float64 `json:"ms_budget"`
	// EncodeAlone is how many milliseconds of the clock interest and encoding took while the bots
	// kept still, in the quickest tenth of ticks, if there are several numbers of cores to compare.
	// Speedup compares it with the same strategy on one core.
	EncodeAlone float64 `json:"ms_encode_alone,omitempty" head:"alone ms" as:"?%.2f"`
	Speedup     float64 `json:"encode_speedup,omitempty" head:"speed- up" as:"?%.2f"`
	// Allocs is how many allocations the whole process made in a tick.
	Allocs float64 `json:"allocs_per_tick" head:"allocs /tick" as:"%.2f"`
}

// TickTime is what a tick's time went to.
type TickTime struct {
	Receive  float64 `json:"receive" head:"receive" as:"%.2f"`
	Step     float64 `json:"step" head:"step" as:"%.2f"`
	Interest float64 `json:"interest" head:"interest" as:"%.2f"`
	Encode   float64 `json:"encode" head:"encode" as:"%.2f"`
	Send     float64 `json:"send" head:"send" as:"%.2f"`
}

// Traffic is what went over the network.
type Traffic struct {
	// Down and Up are bytes a client and second, without IP and UDP. Purposes has those of Down by
	// what they were for, and Booked is their sum, which the ledger has; it equals Down.
	Down     float64            `json:"down_bytes_per_client_second" head:"bytes/s down" as:"%.0f"`
	Up       float64            `json:"up_bytes_per_client_second" head:"bytes/s up" as:"%.0f"`
	Purposes map[string]float64 `json:"down_by_purpose"`
	Booked   float64            `json:"down_booked"`
	// Inside says what the bytes of snapshots were for, down to the classes of the game.
	Inside map[string]float64 `json:"snapshots_by_purpose"`
	// DownRatio compares Down with that of coeval on as many cores, where both were measured;
	// SnapshotRatio the same for the bytes of snapshots alone.
	DownRatio     float64 `json:"down_against_coeval,omitempty" head:"x coeval" as:"?%.2f"`
	SnapshotRatio float64 `json:"snapshots_against_coeval,omitempty"`
}

// Shown is what a client was shown.
type Shown struct {
	// Snapshots is how many a client got in a second, Mean and Sizes how many bytes they had and
	// Packets how many packets each took.
	Snapshots float64     `json:"snapshots_per_client_second" head:"snapshots /s" as:"%.1f"`
	Mean      float64     `json:"snapshot_bytes" head:"bytes each" as:"%.1f"`
	Sizes     middle[int] `json:"snapshot_sizes"`
	Packets   float64     `json:"packets_per_snapshot"`
	// Others and Entities are how many other players, and things of any kind, a client had in view.
	Others   float64 `json:"others_in_view" head:"others in view" as:"%.1f"`
	Entities float64 `json:"entities_in_view" head:"things in view" as:"%.1f"`
}

// Health says whether the run was sound.
type Health struct {
	// Commands is the share of commands that were there when they were needed.
	Commands float64 `json:"commands_in_time" head:"commands in time" as:"%.1f %%"`
	// BotsShare is how much of a core the bots took, and Bad how many packets they could not use.
	BotsShare float64 `json:"bots_share_of_core" head:"bots' share" as:"%.2f"`
	Bad       uint64  `json:"bad"`
	Starved   uint64  `json:"starved"`
	Dropped   uint64  `json:"dropped"`
	Offences  uint64  `json:"offences"`
}

// middle is what a list has in its middle and at its end.
type middle[T time.Duration | int] struct {
	Median T `json:"median" head:"median"`
	Most99 T `json:"p99" head:"p99"`
	Most   T `json:"most"`
}

// middleOf sorts the list.
func middleOf[T time.Duration | int](list []T) (m middle[T]) {
	if n := len(list); n > 0 {
		slices.Sort(list)
		m = middle[T]{list[n/2], list[n*99/100], list[n-1]}
	}
	return m
}

func (r *run) result(players int, h *hostSample, b *botsSample) *Result {
	g := r.o.Title.Game
	ticks, seconds := float64(max(h.Stats.Ticks, 1)), h.Wall.Seconds()
	clients, snapshots := float64(players)*seconds, float64(max(h.Stats.Snapshots, 1))
	x := &Result{
		Setting: Setting{
			Strategy: r.strategy, Procs: r.procs, Players: players, Rate: g.Rate(),
			Rated: r.o.Snapshots, Relay: r.o.Relay,
			Seconds: seconds, Ticks: h.Stats.Ticks,
		},
		Time: Time{
			Tick: lab.Millis(h.TickCPU) / ticks, Share: h.Used.CPU.Seconds() / seconds,
			TickMedian: lab.Millis(h.Ticks.Median), Tick99: lab.Millis(h.Ticks.Most99),
			TickMost: lab.Millis(h.Ticks.Most),
			Budget:   lab.Millis(g.TickLength()), Allocs: float64(h.Used.Allocs) / ticks,
		},
		Traffic: Traffic{
			Down: float64(h.Link.SentBytes) / clients, Up: float64(h.Link.ReceivedBytes) / clients,
			Purposes: map[string]float64{}, Inside: map[string]float64{},
		},
		Shown: Shown{
			Snapshots: float64(h.Stats.Snapshots) / clients,
			Mean:      float64(h.Stats.Bytes) / snapshots, Sizes: b.Sizes,
			Packets: float64(h.Stats.Packets) / snapshots, Others: b.Others, Entities: b.Entities,
		},
		Health: Health{
			Commands:  1 - float64(h.Stats.Commands.Repeated)/(ticks*float64(players)),
			BotsShare: b.CPU.Seconds() / b.Wall.Seconds(), Bad: b.Bad, Starved: h.Stats.Starved,
			Dropped: h.Stats.Dropped,
		},
	}
	for _, n := range h.Stats.Offences {
		x.Offences += n
	}
	x.PerPlayer = x.Tick * 1000 / float64(players)
	if work := h.Stats.Times.Work(); work > 0 {
		scale := float64(h.TickCPU) / float64(work) / ticks
		s := &h.Stats.Times
		x.Spent = TickTime{
			Receive: scale * lab.Millis(s.Receive), Step: scale * lab.Millis(s.Step),
			Interest: scale * lab.Millis(s.Interest),
			Encode:   scale * lab.Millis(s.Encode), Send: scale * lab.Millis(s.Send),
		}
	}
	x.Work = (x.Spent.Receive + x.Spent.Encode) / x.Budget
	for name, bytes := range h.Sent {
		x.Purposes[name] = float64(bytes) / clients
		x.Booked += float64(bytes) / clients
	}
	for name, bits := range h.Purposes {
		x.Inside[name] = bits / 8 / clients
	}
	return x
}

// Lines are the results.
func (r Results) Lines() []any { return lab.Lines(r) }

// Check is an error if what was measured is not what was meant to be.
func (r Results) Check() error { return lab.CheckAll(r) }

// Report says what the server's time and bytes went to.
func (r Results) Report(p *lab.Report) {
	if len(r) == 0 {
		return
	}
	relay := "without"
	if r[0].Relay {
		relay = "with"
	}
	p.Say("%d ticks a second, %d snapshots a client and second, %s the commands of others, "+
		"encrypted", r[0].Rate, r[0].Rated, relay)
	for _, x := range r {
		if x.Pace < 1 {
			p.Add("%s, %d cores: time went at %v of its speed, so that the bots could keep up",
				x.Strategy, x.Procs, x.Pace)
		}
	}
	p.Table([]Result(r),
		"Strategy, Procs | Players, Tick, Spent.Receive, Spent.Step, Spent.Interest, "+
			"Spent.Encode, Spent.Send, "+
			"Tick99, Share, Work, PerPlayer, Allocs, EncodeAlone, Speedup")
	p.Table([]Result(r),
		"Strategy, Procs | Down, DownRatio, Up, Snapshots, Mean, Sizes.Median, Sizes.Most99, "+
			"Others, Entities, Commands, BotsShare")
	for _, x := range r {
		p.Say("%s, %d cores: bytes down a client and second: %s; sum %.1f, socket %.1f", x.Strategy,
			x.Procs, lab.Largest(x.Purposes), x.Booked, x.Down)
		p.Add("  of snapshots and their messages: %s", lab.Largest(x.Inside))
		if x.Limit != nil {
			p.Add("  most players: %v", x.Limit)
		}
	}
}

// Check is an error if what was measured is not what was meant to be.
func (r *Result) Check() error {
	name := fmt.Sprintf("%s, %d players", r.Strategy, r.Players)
	switch {
	case r.Booked < r.Down*0.9999 || r.Booked > r.Down*1.0001:
		return fmt.Errorf("%s: the ledger has %.1f bytes a client and second, the socket %.1f",
			name, r.Booked, r.Down)
	case r.Bad > 0:
		return fmt.Errorf("%s: the bots could not use %d packets or messages", name, r.Bad)
	case r.Dropped > 0:
		return fmt.Errorf("%s: the server dropped %d bots", name, r.Dropped)
	case r.Limit == nil && r.Commands < 0.9:
		return fmt.Errorf(
			"%s: only %.0f %% of the commands came in time: this machine is too busy, or the "+
				"load too much for it", name, 100*r.Commands)
	}
	return nil
}

// compare fills in what takes two results.
func (r Results) compare() {
	for i := range r {
		x := &r[i]
		for _, o := range r {
			if o.Strategy == x.Strategy && o.Procs == 1 && x.Procs > 1 && x.EncodeAlone > 0 {
				x.Speedup = o.EncodeAlone / x.EncodeAlone
			}
			if o.Procs == x.Procs && o.Strategy == "coeval" && x.Strategy != "coeval" &&
				o.Down > 0 {
				x.DownRatio = x.Down / o.Down
				x.SnapshotRatio = x.Mean * x.Snapshots / (o.Mean * o.Snapshots)
			}
		}
	}
}
