//go:build !js

package mirrors

import (
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/wire"
)

// phases are all that a mirror can be in.
var phases = []mirror.Phase{
	mirror.Joining, mirror.Waiting, mirror.Serving, mirror.Suspended, mirror.Leaving, mirror.Out,
}

// measure adds the numbers of a mirror, those of the side that players see included.
func measure(m *serve.Metrics, x *mirror.Mirror) {
	in := map[string]float64{}
	for _, p := range phases {
		in[p.String()] = asNumber(p == x.Phase())
	}
	serve.Gauges(m, "mirror_phase", "1 for the phase that the mirror is in, 0 for the others.",
		"phase", in)
	st, line, clock, traffic := x.Stats(), x.TimelineStats(), x.Clock(), x.Traffic()
	m.Gauge("mirror_id", "The mirror's number in the group, or 0.", float64(x.ID()))
	m.Gauge("mirror_uber_id", "The number of the überserver, or 0.", float64(x.Uber()))
	m.Gauge("mirror_is_uber", "Whether this mirror is the überserver.",
		asNumber(x.ID() != 0 && x.ID() == x.Uber()))
	m.Gauge("mirror_members", "Mirrors in the group, this one included.", float64(len(x.Members())))
	measureLines(m, x)
	measureMoves(m, x.Moves())
	m.Gauge("mirror_settled_tick", "The newest tick that is the same on all mirrors for good.",
		float64(st.Settled))
	m.Gauge("mirror_settled_delay_seconds", "How far the settled world is behind the present.",
		x.SettledDelay().Seconds())
	m.Gauge("mirror_clock_offset_seconds",
		"By how much the other mirrors' time is ahead of this one's.", clock.Offset.Seconds())
	m.Gauge("mirror_clock_bound_seconds", "The most that the offset can be wrong.",
		clock.Bound.Seconds())
	m.Gauge("mirror_clock_unsure",
		"Whether the clock jumped and the others have not told the time yet.",
		asNumber(clock.Unsure))
	m.Count("mirror_clock_jumps_total", "How often this machine's clock jumped or stood still.",
		uint64(clock.Jumps))
	m.Count("mirror_commands_total",
		"Commands of players of all mirrors, since this one last joined.", uint64(line.Commands))
	m.Count("mirror_rollbacks_total",
		"How often the leading world was put right, since this mirror last joined.",
		uint64(line.Rollbacks))
	measureShown(m, line)
	serve.Counts(m, "mirror_late_commands_total",
		"Commands of other mirrors after their tick was shown (late) or settled (too_late).",
		"how", map[string]uint64{"late": uint64(st.Late), "too_late": uint64(st.TooLate)})
	serve.Counts(m, "mirror_events_total",
		"Events shown before they were settled, and what became of them.",
		"what", map[string]uint64{
			"provisional": st.Provisional, "confirmed": st.Confirmed, "retracted": st.Retracted,
		})
	serve.Counts(m, "mirror_refused_total", "Commands of other mirrors that did not count, all "+
		"that made no sense, and commands of players here while it took none.",
		"what", map[string]uint64{
			"commands": uint64(st.Refused), "all": st.Refusals, "of_players": st.Dropped,
		})
	serve.Counts(m, "mirror_unbelieved_total",
		"What other mirrors said and this one did not believe, since it last joined.",
		"reason", x.Unbelieved())
	m.Count("mirror_equivocations_total",
		"Mirrors that were put out by their own signatures: they told different things.",
		st.Equivocations)
	m.Count("mirror_differed_total", "Settled worlds that were unlike another mirror's.",
		st.Differed)
	m.Count("mirror_withdrawn_total", "Packets of mirrors that are gone that came here, and were "+
		"taken back as the others agreed that they do not count.", st.Withdrawn)
	m.Count("mirror_rejoins_total", "How often this mirror had to join anew.", st.Rejoins)
	sent := map[string]uint64{}
	for i, n := range traffic.Sent {
		sent[crimp.Purpose(i).String()] = n
	}
	serve.Counts(m, "mirror_sent_bytes_total",
		"Bytes sent to other mirrors, by what they were for.",
		"purpose", sent)
	if s := x.Server(); s != nil {
		m.Server(s)
	}
}

// measureMoves adds who came from other mirrors and went to them.
func measureMoves(m *serve.Metrics, v mirror.Moves) {
	in, out := map[string]uint64{}, map[string]uint64{}
	for i := range v.In {
		why := wire.Why(i)
		in[why.String()], out[why.String()] = v.In[i], v.Out[i]
	}
	delete(out, wire.Joins.String()) // who goes away comes to another
	serve.Counts(m, "mirror_moves_in_total",
		"Players who came to this mirror: newcomers (joins), asked by the mirror before, as it "+
			"was silent or lost, or as this one is nearer.", "reason", in)
	serve.Counts(m, "mirror_moves_out_total",
		"Players of this mirror who went on at another, by the same reasons.", "reason", out)
	m.Count("mirror_moves_denied_total", "Players who were sent elsewhere as this mirror is full, "+
		"and, at the überserver, those who were told to stay where they are.", v.Denied)
}

// measureLines adds how the other mirrors are reached, and what is carried for them.
func measureLines(m *serve.Metrics, x *mirror.Mirror) {
	ways := map[string]float64{"direct": 0, "detour": 0, "none": 0}
	for _, l := range x.Lines() {
		switch l.Via {
		case 0:
			ways["none"]++
		case l.Member:
			ways["direct"]++
		default:
			ways["detour"]++
		}
	}
	serve.Gauges(m, "mirror_lines",
		"Other mirrors and witnesses that are reached directly, over others, or not at all.",
		"way", ways)
	m.Gauge("mirror_absent", "Mirrors of the group that this one is not in touch with.",
		float64(len(x.Absent())))
	st := x.Multicast()
	serve.Counts(m, "mirror_carried_total",
		"Datagrams carried for other mirrors, and those that were not: there was no way, or too "+
			"many were handed over.",
		"what", map[string]uint64{
			"carried": st.Carried, "no_way": st.Uncarried, "too_many": st.Overpaid,
		})
	congestion := x.Congestion()
	m.Gauge("mirror_congestion",
		"How much mirrors suffer from what they send to each other, from 0 to 1.", congestion.Level)
	m.Gauge("mirror_send_interval_seconds", "How often commands are passed on to other mirrors.",
		congestion.SendEvery.Seconds())
	m.Count("mirror_congestion_refused_total",
		"Newcomers that were not let in because lines to other mirrors are overloaded.",
		congestion.Refused)
	m.Gauge("mirror_multicast_reached", "Mirrors that are sent to by multicast.",
		float64(len(x.Casts())))
	m.Count("mirror_multicast_failed_total",
		"How often another mirror's multicast was heard and its packets did not come.",
		st.CastLost)
	m.Count("mirror_carried_bytes_total", "Bytes of datagrams carried for other mirrors.",
		st.CarriedBytes)
}

// upgrades are what a mirror knows of games that go from one group to another.
type upgrades struct {
	done   uint64        // up to this group
	failed atomic.Uint64 // the group halted, and went on
	halts  atomic.Bool   // it does now
}

// measureUpgrades adds how the game came here.
func (h *host) measureUpgrades(m *serve.Metrics) {
	m.Count("upgrades_total", "How often a new group has taken over the game, up to this one.",
		h.upgrades.done)
	m.Count("upgrade_failures_total", "How often this group stood still for another to take its "+
		"game, and went on.", h.upgrades.failed.Load())
	still := time.Duration(0)
	if h.successor != nil {
		still = time.Duration(h.successor.still.Load())
	}
	m.Gauge("upgrade_still_seconds", "For how long the world stood still when this mirror took "+
		"the game over.", still.Seconds())
}

func asNumber(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// measureShown adds how wrong is what players are shown.
func measureShown(m *serve.Metrics, line timeline.Stats) {
	m.Count("mirror_returns_total", "How often the leading world went back to a late command's "+
		"own tick at once, since this mirror last joined.", uint64(line.Returns))
	serve.Counts(m, "mirror_bodies_total", "Entities that have margins, each time that a tick was "+
		"first shown (shown), and those that turned out to be off by more (wrong), since this "+
		"mirror last joined.", "what", map[string]uint64{
		"shown": uint64(line.Bodies), "wrong": uint64(line.Wrong),
	})
}
