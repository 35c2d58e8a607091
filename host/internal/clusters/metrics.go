//go:build !js

package clusters

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// site answers over HTTP how a server does: /metrics for Prometheus, and /healthz.
type site struct {
	server *seamless.Server
	length time.Duration
}

// metric is one number of each zone.
type metric struct {
	name, kind, help string
	of               func(z *seamless.ZoneNumbers, length time.Duration) float64
}

var zoneMetrics = []metric{
	{"coeval_zone_tick", "counter", "The last tick that was computed.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Tick) }},
	{"coeval_zone_behind_ticks", "gauge", "Ticks that are due and not computed.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Behind) }},
	{"coeval_zone_undurable_ticks", "gauge", "Ticks computed that the journal does not have yet.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 {
			return float64(z.Tick - z.Durable)
		}},
	{"coeval_zone_busy_ratio", "gauge", "Which part of a tick's time a tick takes, on average.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return z.Busy }},
	{"coeval_zone_ticks_over_budget_total", "counter", "Ticks that took longer than their time.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Over) }},
	{"coeval_zone_entities", "gauge", "Entities that the zone owns.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Entities) }},
	{"coeval_zone_ghosts", "gauge", "Entities of other zones that are seen here.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Ghosts) }},
	{"coeval_zone_players", "gauge", "Players whose entities are here.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Players) }},
	{"coeval_zone_ghost_age_seconds", "gauge", "How old the oldest is of what zones nearby show.",
		func(z *seamless.ZoneNumbers, d time.Duration) float64 {
			return (time.Duration(z.GhostAge) * d).Seconds()
		}},
	{"coeval_zone_waiting", "gauge", "Actions and events that wait for room to leave.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Waiting) }},
	{"coeval_zone_thin", "gauge", "By how many halvings rates are lowered of what is far.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 { return float64(z.Thin) }},
	{"coeval_zone_wrong_total", "counter", "What rules did wrong, and what came and cannot be.",
		func(z *seamless.ZoneNumbers, _ time.Duration) float64 {
			return float64(z.Rules + uint64(z.Undone) + z.Strange + z.Dropped + z.Refused)
		}},
}

// serverMetrics are those of a server as a whole.
var serverMetrics = []struct {
	name, kind, help string
	of               func(n *seamless.Numbers) float64
}{
	{"coeval_cluster_zones", "gauge", "Zones that this server steps.",
		func(n *seamless.Numbers) float64 { return float64(len(n.Zones)) }},
	{"coeval_cluster_servers", "gauge", "Other servers of which it has heard lately.",
		func(n *seamless.Numbers) float64 { return float64(n.Others) }},
	{"coeval_journal_delay_seconds", "gauge", "How long a tick takes to be durable, on average.",
		func(n *seamless.Numbers) float64 { return n.JournalDelay.Seconds() }},
	{"coeval_journal_delay_worst_seconds", "gauge", "The longest of the last second.",
		func(n *seamless.Numbers) float64 { return n.JournalWorst.Seconds() }},
	{"coeval_zone_ticks_total", "counter", "Ticks of zones that were computed.",
		func(n *seamless.Numbers) float64 { return float64(n.Protocol.Ticks) }},
	{"coeval_zone_ticks_late_total", "counter", "Those that were computed when the next was due.",
		func(n *seamless.Numbers) float64 { return float64(n.LateTicks) }},
	{"coeval_handovers_total", "counter", "Entities that came from other zones.",
		func(n *seamless.Numbers) float64 { return float64(n.Protocol.HandOvers) }},
	{"coeval_handovers_late_total", "counter", "Those that came a tick late, or more.",
		func(n *seamless.Numbers) float64 {
			return float64(n.Protocol.HandOvers - n.Protocol.Late[0])
		}},
	{"coeval_zones_taken_over_total", "counter", "Zones that this server has taken.",
		func(n *seamless.Numbers) float64 { return float64(n.Protocol.TakenOver) }},
	{"coeval_zones_lost_total", "counter", "Zones that others have taken from it.",
		func(n *seamless.Numbers) float64 { return float64(n.Protocol.Fenced) }},
	{"coeval_zones_halted_total", "counter", "Zones that it has halted, as they fail.",
		func(n *seamless.Numbers) float64 { return float64(n.Protocol.Halted) }},
	{"coeval_lines_unsent_total", "counter", "Messages to servers for which there was no room.",
		func(n *seamless.Numbers) float64 { return float64(n.Lines.Unsent) }},
	{"coeval_lines_sent_bytes_total", "counter", "Bytes of messages to other servers.",
		func(n *seamless.Numbers) float64 { return float64(n.Lines.SentBytes) }},
}

// ServeHTTP is of http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if r.URL.Path == "/dots" {
		s.dots(w, r.WithContext(ctx))
		return
	}
	n, err := s.server.Numbers(ctx)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case r.URL.Path == "/healthz":
		fmt.Fprintln(w, "ok")
	case r.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		fmt.Fprint(w, exposition(&n, s.length))
	default:
		http.NotFound(w, r)
	}
}

// exposition writes numbers in the format that Prometheus reads.
func exposition(n *seamless.Numbers, length time.Duration) string {
	var b strings.Builder
	for _, m := range serverMetrics {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", m.name, m.help, m.name, m.kind,
			m.name, m.of(n))
	}
	for _, m := range zoneMetrics {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for i := range n.Zones {
			fmt.Fprintf(&b, "%s{zone=\"%d\"} %v\n", m.name, n.Zones[i].Zone,
				m.of(&n.Zones[i], length))
		}
	}
	return b.String()
}
