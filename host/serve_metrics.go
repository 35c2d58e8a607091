//go:build !js

package host

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Meters turn a server's numbers into metrics, and say whether it is well.
type meters struct {
	server   *server.Server
	game     *world.Game
	registry *prometheus.Registry
	ticks    prometheus.Histogram
	ready    atomic.Bool
	last     atomic.Int64 // when a tick was last computed, as Unix time in milliseconds
}

func newMeters(g *world.Game) *meters {
	tick := g.TickLength().Seconds()
	m := &meters{game: g, registry: prometheus.NewRegistry(), ticks: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "coeval_tick_seconds", Help: "How long ticks took, by the clock.",
		Buckets: []float64{tick / 32, tick / 16, tick / 8, tick / 4, tick / 2, tick * 3 / 4, tick, tick * 2, tick * 8},
	})}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.ticks, m)
	return m
}

// ticked is told of each tick.
func (m *meters) ticked(s server.Times) {
	m.ticks.Observe(s.Elapsed().Seconds())
	m.last.Store(time.Now().UnixMilli())
}

func (m *meters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// wellWithin is how old the last tick of a server may be that is well.
const wellWithin = 5 * time.Second

// health says whether ticks are being computed. Whoever runs the server may start it anew if they are not.
func (m *meters) health(w http.ResponseWriter, _ *http.Request) {
	if age := time.Since(time.UnixMilli(m.last.Load())); age > wellWithin {
		http.Error(w, "no tick for too long", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// readiness says whether players should be sent here.
func (m *meters) readiness(w http.ResponseWriter, _ *http.Request) {
	if !m.ready.Load() {
		http.Error(w, "starting or stopping", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

func describeMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("coeval_"+name, help, labels, nil)
}

var (
	tickDesc       = describeMetric("world_tick", "The tick that the world is at.")
	stageDesc      = describeMetric("stage_seconds_total", "Time spent in each part of ticks, summed over cores.", "stage")
	parallelDesc   = describeMetric("parallel_seconds_total", "Time that interest and encoding took together, by the clock.")
	lostDesc       = describeMetric("lost_seconds_total", "Time that was given up because the machine could not keep up.")
	peopleDesc     = describeMetric("people", "Who is there: players, spectators, and those away whose seats are kept.", "kind")
	connsDesc      = describeMetric("connections", "Connections of any kind.")
	visitsDesc     = describeMetric("visits_total", "What people did: joined, returned, left, refused, dropped.", "what")
	offencesDesc   = describeMetric("offences_total", "What clients sent that made no sense, or was too much.", "kind")
	commandsDesc   = describeMetric("commands_total", "Commands of players, by how they came; repeated are ticks without one.", "how")
	snapshotsDesc  = describeMetric("snapshots_total", "Snapshots that were sent.")
	snapBytesDesc  = describeMetric("snapshot_bytes_total", "Bytes of packets of snapshots.")
	starvedDesc    = describeMetric("snapshots_starved_total", "Turns at which a connection had no room for a snapshot.")
	classDesc      = describeMetric("class_bits_total", "Bits of snapshots, by class of entity.", "class")
	sentDesc       = describeMetric("sent_bytes_total", "Bytes handed to the network, by what they were for.", "purpose")
	receivedDesc   = describeMetric("received_bytes_total", "Bytes of packets that proved genuine.")
	linkSentDesc   = describeMetric("link_sent_bytes_total", "Bytes that the links say they have sent.")
	linkDropDesc   = describeMetric("link_dropped_total", "Datagrams that links threw away or refused.")
	suspiciousDesc = describeMetric("suspicious_packets_total", "Packets that were not as they should be.", "kind")
	gameErrorsDesc = describeMetric("game_errors_total", "Ticks in which the game did something wrong.")
	gamePanicsDesc = describeMetric("game_panics_total", "How often the game panicked.")
	tripDesc       = describeMetric("round_trip_seconds", "Round trips of those who are connected: the least, the mean and the most.", "of")
	lossDesc       = describeMetric("loss_ratio", "Mean share of packets lost, to clients (out) and from them (in).", "direction")
)

// Describe is for Prometheus.
func (m *meters) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect is for Prometheus: it asks the server, between two ticks. A server that does not answer has no metrics.
func (m *meters) Collect(out chan<- prometheus.Metric) {
	if m.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	answer := make(chan []prometheus.Metric, 1)
	if m.server.Do(ctx, func() { answer <- m.read() }) != nil {
		return
	}
	for _, x := range <-answer {
		out <- x
	}
}

// read takes all numbers at one moment.
func (m *meters) read() (list []prometheus.Metric) {
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...))
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...))
	}
	s := m.server
	st, p := s.Stats(), s.Population()
	gauge(tickDesc, float64(s.World().Tick()))
	for name, d := range map[string]time.Duration{"receive": st.Times.Receive, "step": st.Times.Step, "interest": st.Times.Interest, "encode": st.Times.Encode, "send": st.Times.Send} {
		count(stageDesc, d.Seconds(), name)
	}
	count(parallelDesc, st.Times.Parallel.Seconds())
	count(lostDesc, st.Lost.Seconds())
	gauge(peopleDesc, float64(p.Players), "players")
	gauge(peopleDesc, float64(p.Spectators), "spectators")
	gauge(peopleDesc, float64(p.Away), "away")
	gauge(connsDesc, float64(p.Connections))
	for name, n := range map[string]uint64{"joined": st.Joined, "returned": st.Returned, "left": st.Left, "refused": st.Refused, "dropped": st.Dropped} {
		count(visitsDesc, float64(n), name)
	}
	for o := range server.Offences {
		count(offencesDesc, float64(st.Offences[o]), o.String())
	}
	c := st.Commands
	for name, n := range map[string]uint64{"taken": c.Taken, "again": c.Again, "late": c.Late, "future": c.Future, "differed": c.Differed, "repeated": c.Repeated} {
		count(commandsDesc, float64(n), name)
	}
	count(snapshotsDesc, float64(st.Snapshots))
	count(snapBytesDesc, float64(st.Bytes))
	count(starvedDesc, float64(st.Starved))
	count(gameErrorsDesc, float64(st.GameErrors))
	count(gamePanicsDesc, float64(st.Panics))
	for i, cl := range st.Replica.Classes {
		name := "commands"
		if classes := m.game.Classes(); i < len(classes) {
			name = classes[i].Name()
		}
		count(classDesc, cl.Bits, name)
	}
	l, links := s.Ledger(), s.Counters()
	for i := range l.Sent {
		count(sentDesc, float64(l.Sent[i]), conn.Purpose(i).String())
	}
	count(receivedDesc, float64(l.Received))
	count(linkSentDesc, float64(links.SentBytes))
	count(linkDropDesc, float64(links.DroppedIn+links.DroppedOut+links.Refused))
	m.readConns(count, gauge)
	return list
}

type meter func(d *prometheus.Desc, v float64, labels ...string)

// readConns takes what is known of connections.
func (m *meters) readConns(count, gauge meter) {
	var sum conn.Stats
	for _, x := range m.server.ConnStats {
		sum.Malformed += x.Malformed
		sum.Unknown += x.Unknown
		sum.Forged += x.Forged
		sum.Replayed += x.Replayed
		sum.Violations += x.Violations
		sum.BadTokens += x.BadTokens
		sum.Flooded += x.Flooded
		sum.TimedOut += x.TimedOut
	}
	for name, n := range map[string]uint64{"malformed": sum.Malformed, "unknown": sum.Unknown, "forged": sum.Forged, "replayed": sum.Replayed,
		"violations": sum.Violations, "bad_tokens": sum.BadTokens, "flooded": sum.Flooded, "timed_out": sum.TimedOut} {
		count(suspiciousDesc, float64(n), name)
	}
	var n int
	var least, most, all time.Duration
	var lossIn, lossOut float64
	for seat := range m.server.Seats {
		q := seat.Quality()
		if seat.Away() || q.RoundTrip == 0 {
			continue
		}
		if n == 0 || q.RoundTrip < least {
			least = q.RoundTrip
		}
		most = max(most, q.RoundTrip)
		all += q.RoundTrip
		lossIn += q.LossIn
		lossOut += q.LossOut
		n++
	}
	if n == 0 {
		return
	}
	gauge(tripDesc, least.Seconds(), "least")
	gauge(tripDesc, all.Seconds()/float64(n), "mean")
	gauge(tripDesc, most.Seconds(), "most")
	gauge(lossDesc, lossIn/float64(n), "in")
	gauge(lossDesc, lossOut/float64(n), "out")
}
