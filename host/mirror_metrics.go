//go:build !js

package host

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// mirrorMeters turn a mirror's numbers into metrics, those of the side that players see included.
type mirrorMeters struct {
	host     *mirrorHost
	server   *meters
	registry *prometheus.Registry
}

func newMirrorMeters(h *mirrorHost) *mirrorMeters {
	m := &mirrorMeters{host: h, server: newMeters(h.title.Game), registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.server.ticks, m)
	return m
}

func (m *mirrorMeters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

var (
	mirrorPhaseDesc     = describeMetric("mirror_phase", "1 for the phase that the mirror is in, 0 for the others.", "phase")
	mirrorIDDesc        = describeMetric("mirror_id", "The mirror's number in the group, or 0.")
	mirrorUberDesc      = describeMetric("mirror_uber_id", "The number of the überserver, or 0.")
	mirrorLeadsDesc     = describeMetric("mirror_is_uber", "Whether this mirror is the überserver.")
	mirrorMembersDesc   = describeMetric("mirror_members", "Mirrors in the group, this one included.")
	mirrorSettledDesc   = describeMetric("mirror_settled_tick", "The newest tick that is the same on all mirrors for good.")
	mirrorDelayDesc     = describeMetric("mirror_settled_delay_seconds", "How far the settled world is behind the present.")
	mirrorOffsetDesc    = describeMetric("mirror_clock_offset_seconds", "By how much the other mirrors' time is ahead of this one's.")
	mirrorBoundDesc     = describeMetric("mirror_clock_bound_seconds", "The most that the offset can be wrong.")
	mirrorUnsureDesc    = describeMetric("mirror_clock_unsure", "Whether the clock jumped and the others have not told the time yet.")
	mirrorJumpsDesc     = describeMetric("mirror_clock_jumps_total", "How often this machine's clock jumped or stood still.")
	mirrorCommandsDesc  = describeMetric("mirror_commands_total", "Commands of players of all mirrors, since this one last joined.")
	mirrorRollbacksDesc = describeMetric("mirror_rollbacks_total", "How often the leading world was put right, since this mirror last joined.")
	mirrorLateDesc      = describeMetric("mirror_late_commands_total", "Commands of other mirrors after their tick was shown (late) or settled (too_late).", "how")
	mirrorEventsDesc    = describeMetric("mirror_events_total", "Events shown before they were settled, and what became of them.", "what")
	mirrorRefusedDesc   = describeMetric("mirror_refused_total", "Commands of other mirrors that did not count, all that made no sense, and commands of players here while it took none.", "what")
	mirrorDifferedDesc  = describeMetric("mirror_differed_total", "Settled worlds that were unlike another mirror's.")
	mirrorRejoinsDesc   = describeMetric("mirror_rejoins_total", "How often this mirror had to join anew.")
	mirrorSentDesc      = describeMetric("mirror_sent_bytes_total", "Bytes sent to other mirrors, by what they were for.", "purpose")
)

// Describe is for Prometheus. What there is depends on how far the mirror has come, so nothing is promised.
func (m *mirrorMeters) Describe(chan<- *prometheus.Desc) {}

// Collect is for Prometheus: it asks the mirror, between two ticks. One that does not answer has no metrics.
func (m *mirrorMeters) Collect(out chan<- prometheus.Metric) {
	answer := make(chan []prometheus.Metric, 1)
	if m.host.ask(context.Background(), func(x *mirror.Mirror) { answer <- m.read(x) }) != nil {
		return
	}
	for _, x := range <-answer {
		out <- x
	}
}

// mirrorPhases are all that a mirror can be in.
var mirrorPhases = []mirror.Phase{mirror.Joining, mirror.Waiting, mirror.Serving, mirror.Suspended, mirror.Leaving, mirror.Out}

// read takes all numbers at one moment.
func (m *mirrorMeters) read(x *mirror.Mirror) (list []prometheus.Metric) {
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...))
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...))
	}
	for _, p := range mirrorPhases {
		gauge(mirrorPhaseDesc, asNumber(p == x.Phase()), p.String())
	}
	st, line, clock, sent := x.Stats(), x.TimelineStats(), x.Clock(), x.Traffic()
	gauge(mirrorIDDesc, float64(x.ID()))
	gauge(mirrorUberDesc, float64(x.Uber()))
	gauge(mirrorLeadsDesc, asNumber(x.ID() != 0 && x.ID() == x.Uber()))
	gauge(mirrorMembersDesc, float64(len(x.Members())))
	gauge(mirrorSettledDesc, float64(st.Settled))
	gauge(mirrorDelayDesc, x.SettledDelay().Seconds())
	gauge(mirrorOffsetDesc, clock.Offset.Seconds())
	gauge(mirrorBoundDesc, clock.Bound.Seconds())
	gauge(mirrorUnsureDesc, asNumber(clock.Unsure))
	count(mirrorJumpsDesc, float64(clock.Jumps))
	count(mirrorCommandsDesc, float64(line.Commands))
	count(mirrorRollbacksDesc, float64(line.Rollbacks))
	count(mirrorLateDesc, float64(st.Late), "late")
	count(mirrorLateDesc, float64(st.TooLate), "too_late")
	count(mirrorEventsDesc, float64(st.Provisional), "provisional")
	count(mirrorEventsDesc, float64(st.Confirmed), "confirmed")
	count(mirrorEventsDesc, float64(st.Retracted), "retracted")
	count(mirrorRefusedDesc, float64(st.Refused), "commands")
	count(mirrorRefusedDesc, float64(st.Refusals), "all")
	count(mirrorRefusedDesc, float64(st.Dropped), "of_players")
	count(mirrorDifferedDesc, float64(st.Differed))
	count(mirrorRejoinsDesc, float64(st.Rejoins))
	for i, n := range sent.Sent {
		count(mirrorSentDesc, float64(n), crimp.Purpose(i).String())
	}
	if s := x.Server(); s != nil {
		m.server.server = s // only here, where the mirror is driven
		list = append(list, m.server.read()...)
	}
	return list
}

func asNumber(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
