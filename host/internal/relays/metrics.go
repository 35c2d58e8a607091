//go:build !js

package relays

import (
	"context"
	"log/slog"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/topology/relay"
)

// refusals are the names by which refusals are counted.
var refusals = map[relay.Refusal]string{
	relay.RefusedUnknown: "unknown_code", relay.RefusedExpired: "expired_code",
	relay.RefusedGame: "other_game", relay.RefusedFull: "match_full",
	relay.RefusedBusy: "relay_full", relay.RefusedCrowded: "matches_of_one_address",
	relay.RefusedGuessing: "guesses", relay.RefusedTwice: "in_a_match",
	relay.RefusedMode: "other_mode",
}

// measure adds all of a relay. It is for the goroutine that drives it.
func measure(m *serve.Metrics, r *relay.Server) {
	t, s := r.Stats(), r.Status()
	m.Gauge("relay_matches", "Matches that there are.", float64(s.Matches))
	serve.Gauges(m, "relay_members", "Members of matches: those who play, watch, and wait to play.",
		"kind", map[string]int{"playing": s.Playing, "watching": s.Watching,
			"waiting": s.Members - s.Playing - s.Watching})
	serve.Counts(m, "relay_matches_total", "Matches that were created, and that are over.", "what",
		map[string]uint64{"created": t.Created, "over": t.Over})
	refused := map[string]uint64{}
	for why, name := range refusals {
		refused[name] = t.Refused[why]
	}
	serve.Counts(m, "relay_refused_total", "Members that were not let into a match, by reason.",
		"reason", refused)
	dropped := map[string]uint64{}
	for i, name := range []string{"offence", "fell_behind", "silent"} {
		dropped[name] = t.Dropped[i]
	}
	serve.Counts(m, "relay_dropped_total", "Connections that the relay ended, by reason.", "reason",
		dropped)
	m.Count("relay_rows_total", "Rows that were closed.", t.Rows)
	m.Count("relay_rows_late_total", "Rows that waited in vain for somebody's item.", t.Late)
	m.Count("relay_repeated_total",
		"Items that had not come in time, so that a command is repeated.",
		t.Repeated)
	m.Count("relay_caught_up_total", "Items that came late and were taken together with another.",
		t.Caught)
	m.Count("relay_items_total", "Items that have come.", t.Items)
	m.Count("relay_words_total", "Words that members said to all.", t.Words)
	m.Count("relay_carried_total", "Datagrams that were carried from member to member.", t.Carried)
	serve.Counts(m, "relay_not_carried_total", "Datagrams that were not carried, by reason.",
		"reason", map[string]uint64{"stranger": t.Strangers, "rate": t.OverRate})
	m.Count("relay_flooded_total", "Packets of items that were too many to be looked at.",
		t.Flooded)
	m.Count("relay_stalls_total", "How often the relay itself stood still for too long.", t.Stalls)
	serve.Counts(m, "relay_message_bytes_total", "Bytes of messages, by kind, without headers.",
		"kind", map[string]uint64{"rows": t.RowBytes, "items": t.ItemIn, "carried": t.CarriedBytes})
	links(m, &s)
}

// links adds what went over the links, and what was not as it should be.
func links(m *serve.Metrics, s *relay.Status) {
	m.Traffic(&s.Ledger, s.Links)
	bad, refused := map[string]uint64{}, map[string]uint64{}
	for i := range s.Conns {
		serve.Suspicious(&s.Conns[i], bad, refused)
	}
	serve.Counts(m, "refused_total", "Those who were not let in at all, by reason.", "reason",
		refused)
	serve.Counts(m, "suspicious_packets_total", "Packets that were not as they should be.", "kind",
		bad)
	serve.Gauges(m, "places",
		"Places of browsers: those that are taken, and of these those of members.",
		"kind", map[string]int{"taken": s.Places.Taken, "proven": s.Places.Proven})
}

// news logs what happens. Members' names are what strangers typed, so the log quotes them.
func (r *Relay) news(n relay.News) {
	var args []any
	if n.Code != (relay.Code{}) {
		// The code lets people in, so only its first half is written down.
		args = append(args, "match", strings.SplitN(n.Code.String(), "-", 2)[0])
	}
	if n.Peer.Addr.IsValid() {
		args = append(args, "from", n.Peer.Addr.Addr().String())
	}
	if n.Peer.Member != 0 {
		args = append(args, "member", int(n.Peer.Member), "name", n.Peer.Name)
	}
	if n.Text != "" {
		args = append(args, "text", n.Text)
	}
	level := slog.LevelInfo
	switch n.Kind {
	case relay.NewsEntered, relay.NewsGone:
		level = slog.LevelDebug
	case relay.NewsDropped:
		level = slog.LevelWarn
		args = append(args, "reason", relay.ReasonText(n.Reason))
	case relay.NewsLinkDown:
		level = slog.LevelError
		args = append(args, "error", n.Err)
	}
	r.log.Log(context.Background(), level, n.Kind.String(), args...)
}
