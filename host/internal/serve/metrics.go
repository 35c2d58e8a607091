//go:build !js

package serve

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Meters turn the numbers of a server into metrics, and say whether it is well.
type Meters struct {
	read  func(context.Context, *Metrics) error
	ticks *histogram
	ready atomic.Bool
	last  atomic.Int64 // when a tick was last computed, as Unix time in milliseconds
	said  atomic.Bool  // whoever supervises the program knows that it is ready
}

// NewMeters makes the meters of a game. Read takes all numbers at one moment; one that does not
// answer has none.
func NewMeters(g *world.Game, read func(context.Context, *Metrics) error) *Meters {
	return MetersOf(g.TickLength(), read)
}

// MetersOf makes the meters of what has ticks of a length.
func MetersOf(length time.Duration, read func(context.Context, *Metrics) error) *Meters {
	tick := length.Seconds()
	return &Meters{read: read, ticks: newHistogram(
		"coeval_tick_seconds", "How long ticks took, by the clock.",
		tick/32, tick/16, tick/8, tick/4, tick/2, tick*3/4, tick, tick*2, tick*8)}
}

// Ticked is told of each tick.
func (m *Meters) Ticked(s server.Times) { m.Took(s.Elapsed()) }

// Took is told how long a tick took.
func (m *Meters) Took(d time.Duration) {
	m.ticks.observe(d.Seconds())
	m.last.Store(time.Now().UnixMilli())
	if m.ready.Load() && !m.said.Load() && m.said.CompareAndSwap(false, true) {
		go tellSupervisor("READY=1")
	}
}

// SetReady says whether people should be sent here.
func (m *Meters) SetReady(on bool) { m.ready.Store(on) }

// Mount adds what a site says by them: health, and metrics to those who may see them; and how long
// the way to it is.
func (m *Meters) Mount(mux *http.ServeMux, s *Site) {
	mux.HandleFunc("GET "+PingPath, ping)
	mux.HandleFunc("GET /healthz", m.health)
	mux.HandleFunc("GET /readyz", m.readiness)
	mux.Handle("GET /metrics", s.Watched(m.Handler()))
}

// PingPath is where pages measure how long the way to a site is.
const PingPath = "/ping"

// ping answers nothing, to pages from anywhere, with times that they may read.
func ping(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Timing-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// fresh is how old the numbers may be that someone is told.
const fresh = time.Second

// Handler is what Prometheus asks. The numbers are taken once, for all who ask at the same time or
// soon after: so however many do, none of them keeps the others from an answer, nor takes more of
// the server's time than one would.
func (m *Meters) Handler() http.Handler { return &told{ask: m.Text} }

// Text is all numbers, as Prometheus reads them.
func (m *Meters) Text() []byte {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var own, all Metrics
	own.process()
	if m.read(ctx, &all) != nil {
		all = Metrics{} // it may still be written to
	}
	var b bytes.Buffer
	for _, f := range append(own.list, all.list...) {
		f.write(&b)
	}
	m.ticks.write(&b)
	return b.Bytes()
}

// told remembers an answer for a while, and gives it to all.
type told struct {
	ask func() []byte

	mu   sync.Mutex
	at   time.Time
	body []byte
}

// ServeHTTP answers with what was told last, if that is fresh. Those who come meanwhile wait for
// it.
func (t *told) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	if time.Since(t.at) > fresh {
		t.body, t.at = t.ask(), time.Now()
	}
	body := t.body
	t.mu.Unlock()
	w.Header().Set("Content-Type", textFormat)
	_, _ = w.Write(body) // who has gone need not be told
}

// WellWithin is how old the last tick of a server may be that is well.
const WellWithin = 5 * time.Second

// health says whether ticks are being computed. Whoever runs the server may start it anew if they
// are not.
func (m *Meters) health(w http.ResponseWriter, _ *http.Request) {
	var err error
	if time.Since(time.UnixMilli(m.last.Load())) > WellWithin {
		err = errors.New("no tick for too long")
	}
	Say(w, "ok", err)
}

// readiness says whether players should be sent here.
func (m *Meters) readiness(w http.ResponseWriter, _ *http.Request) {
	var err error
	if !m.ready.Load() || m.last.Load() == 0 {
		err = errors.New("starting, draining or stopping")
	}
	Say(w, "ready", err)
}

// Say says that something is well, or what is not.
func Say(w http.ResponseWriter, well string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte(well + "\n"))
}

// Metrics are numbers at one moment.
type Metrics struct{ list []family }

// A number is anything that is counted or measured.
type number interface {
	~int | ~int64 | ~uint64 | ~float64
}

func add[T number](m *Metrics, kind, name, help, label string, values map[string]T) {
	f := family{"coeval_" + name, help, kind, label, map[string]float64{}}
	for of, v := range values {
		f.values[of] = float64(v)
	}
	m.list = append(m.list, f)
}

// Counts adds what grows, by some label.
func Counts[T number](m *Metrics, name, help, label string, values map[string]T) {
	add(m, "counter", name, help, label, values)
}

// Gauges adds what goes up and down, by some label.
func Gauges[T number](m *Metrics, name, help, label string, values map[string]T) {
	add(m, "gauge", name, help, label, values)
}

func one[T number](m *Metrics, kind, name, help string, v T) {
	add(m, kind, name, help, "", map[string]T{"": v})
}

// Count adds what grows.
func (m *Metrics) Count(name, help string, n uint64) {
	one(m, "counter", name, help, n)
}

// Seconds adds time that adds up.
func (m *Metrics) Seconds(name, help string, d time.Duration) {
	one(m, "counter", name, help, d.Seconds())
}

// Gauge adds what goes up and down.
func (m *Metrics) Gauge(name, help string, v float64) {
	one(m, "gauge", name, help, v)
}

// Site adds what was refused over HTTP.
func (m *Metrics) Site(s *Site) {
	Counts(m, "http_refused_total", "What was refused over HTTP, by reason.", "reason",
		s.Refusals.All())
}

// Server adds all of a server.
func (m *Metrics) Server(s *server.Server) {
	st, p, c := s.Stats(), s.Population(), s.Stats().Commands
	m.Gauge("world_tick", "The tick that the world is at.", float64(s.World().Tick()))
	Counts(m, "stage_seconds_total", "Time spent in each part of ticks, summed over cores.",
		"stage",
		map[string]float64{
			"receive": st.Times.Receive.Seconds(), "step": st.Times.Step.Seconds(),
			"interest": st.Times.Interest.Seconds(), "encode": st.Times.Encode.Seconds(),
			"send": st.Times.Send.Seconds(),
		})
	m.Seconds("parallel_seconds_total",
		"Time that interest and encoding took together, by the clock.", st.Times.Parallel)
	m.Seconds("lost_seconds_total",
		"Time that was given up because the machine could not keep up.", st.Lost)
	Gauges(m, "people", "Who is there: players, spectators, and those away whose seats are kept.",
		"kind", map[string]int{
			"players": p.Players, "spectators": p.Spectators, "away": p.Away,
		})
	m.Gauge("connections", "Connections of any kind.", float64(p.Connections))
	Counts(m, "visits_total", "What people did: joined, returned, left, refused, dropped.",
		"what", map[string]uint64{
			"joined": st.Joined, "returned": st.Returned, "left": st.Left,
			"refused": st.Refused, "dropped": st.Dropped,
		})
	offences := map[string]uint64{}
	for o := range server.Offences {
		offences[o.String()] = st.Offences[o]
	}
	Counts(m, "offences_total", "What clients sent that made no sense, or was too much.",
		"kind", offences)
	Counts(m, "commands_total",
		"Commands of players, by how they came; repeated are ticks without one, bounded those "+
			"whose client said to show others as it could not.",
		"how", map[string]uint64{
			"taken": c.Taken, "again": c.Again, "late": c.Late,
			"future": c.Future, "differed": c.Differed, "repeated": c.Repeated,
			"bounded": c.Bounded,
		})
	Counts(m, "claims_total",
		"What players' clients said they hit; mistaken are those on what nobody can hit, doubted "+
			"those shown where the target cannot have been, which count at the nearest place.",
		"how", map[string]uint64{
			"made": c.Claims, "mistaken": c.Mistaken, "doubted": c.Doubted,
		})
	m.Count("snapshots_total", "Snapshots that were sent.", st.Snapshots)
	m.Count("snapshot_bytes_total", "Bytes of packets of snapshots.", st.Bytes)
	m.Count("snapshots_starved_total", "Turns at which a connection had no room for a snapshot.",
		st.Starved)
	m.Count("game_errors_total", "Ticks in which the game did something wrong.", st.GameErrors)
	m.Count("game_panics_total", "How often the game panicked.", st.Panics)
	classes := map[string]float64{}
	for i, cl := range st.Replica.Classes {
		name := "commands"
		if list := s.Protocol().Game().Classes(); i < len(list) {
			name = list[i].Name()
		}
		classes[name] = cl.Bits
	}
	Counts(m, "class_bits_total", "Bits of snapshots, by class of entity.", "class", classes)
	ledger := s.Ledger()
	m.Traffic(&ledger, s.Counters())
	m.connections(s)
}

// kept adds how the game is kept.
func (m *Metrics) kept(k *keptGame) {
	if k != nil {
		m.Keeper(k.keeper)
	}
}

// Keeper adds how a keeper does.
func (m *Metrics) Keeper(k *keeping.Keeper) {
	n := k.Numbers()
	m.Gauge("keep_durable_tick", "The last tick that a crash of the machine cannot take.",
		float64(n.Durable))
	m.Gauge("keep_behind_ticks", "Ticks that were played and are not durable.",
		float64(max(n.Played, n.Durable)-n.Durable))
	m.Gauge("keep_at_risk", "1 if what is played is not being kept, as the disk fails or is slow.",
		map[bool]float64{true: 1}[n.AtRisk])
	m.Count("keep_errors_total", "How often something went wrong with the disk.", n.Errors)
	m.Count("keep_missed_ticks_total", "Ticks that are in no journal.", n.Missed)
	m.Count("keep_worlds_total", "Whole worlds that were written.", n.Chapters)
	m.Count("keep_written_bytes_total", "Bytes that were written.", n.Bytes)
	m.Gauge("keep_world_seconds", "How long the last whole world took to be written and read back.",
		n.Chapter.Seconds())
}

// Store adds how what outlives matches is kept.
func (m *Metrics) Store(c *storing.Clerk) {
	if c == nil {
		return
	}
	n := c.Numbers()
	m.Gauge("kept_away", "1 while the store cannot be used, so that nothing is written.",
		map[bool]float64{true: 1}[n.Away])
	m.Gauge("kept_fenced", "1 if another process writes for this world, and this one does not.",
		map[bool]float64{true: 1}[n.Fenced])
	m.Gauge("kept_waiting_rows", "Rows that have changed and are not written.", float64(n.Waiting))
	m.Gauge("kept_oldest_ticks", "For how many ticks the oldest of them has waited.",
		float64(n.Oldest))
	m.Gauge("kept_pending_requests", "Requests that wait for their answers.", float64(n.Pending))
	m.Gauge("kept_request_seconds", "How long the last request took in the store.",
		n.Last.Seconds())
	m.Gauge("kept_request_longest_seconds", "How long the longest request took in the store.",
		n.Longest.Seconds())
	m.Count("kept_rows_total", "Rows that were written.", n.Rows)
	m.Count("kept_writes_total", "Transactions in which they were.", n.Writes)
	Counts(m, "kept_loads_total", "Entities that were asked for in the store.", "how",
		map[string]uint64{"loaded": n.Loads - n.Failed, "failed": n.Failed})
	Counts(m, "kept_requests_total", "Requests that were executed, or had been before.", "how",
		map[string]uint64{"executed": n.Requests - n.Again, "again": n.Again})
	m.Count("kept_lost_total", "Rows that were refused, as another session has them.", n.Lost)
	m.Count("kept_retries_total", "How often something had to be tried again.", n.Retries)
}

// Traffic adds what was handed to links by what it was for, what they did not take of it, and what
// they say they have sent, which is the rest.
func (m *Metrics) Traffic(l *conn.Ledger, links link.Counters) {
	sent := map[string]uint64{}
	for i, n := range l.Sent {
		sent[conn.Purpose(i).String()] = n
	}
	Counts(m, "sent_bytes_total", "Bytes handed to the network, by what they were for.",
		"purpose", sent)
	m.Count("link_refused_bytes_total",
		"Bytes of those that a link did not take, as when a browser has just left.", l.Refused)
	m.Count("link_sent_bytes_total", "Bytes that the links say they have sent.", links.SentBytes)
	m.Count("link_dropped_total", "Datagrams that links threw away or refused.",
		links.DroppedIn+links.DroppedOut+links.Refused)
	m.Count("received_bytes_total", "Bytes of packets that proved genuine.", l.Received)
}

// connections adds what is known of those of a server.
func (m *Metrics) connections(s *server.Server) {
	bad, refused, st := map[string]uint64{}, map[string]uint64{}, s.Stats()
	for _, x := range s.ConnStats {
		Suspicious(&x, bad, refused)
	}
	refused["no_seat_for_the_address"] = st.Crowded
	Counts(m, "refused_total", "People who were not let in, by reason.", "reason", refused)
	m.Count("seats_gave_way_total", "Seats of those who were away that a newcomer was given.",
		st.GaveWay)
	m.Count("receive_bounded_total", "How often more had come than is taken in at once.",
		st.Bounded)
	m.Count("door_waited_total", "Newcomers who had to wait because a tick lets in so many.",
		st.Waited)
	m.Count("uploads_total", "What players have sent in one piece.", st.Uploads)
	m.Count("upload_bytes_total", "Bytes of that.", st.UploadBytes)
	m.Count("uploads_refused_total", "How often that was refused.", st.UploadsRefused)
	places := s.Places()
	Gauges(m, "places", "Places of browsers: those that are taken, and of these those of players.",
		"kind", map[string]int{"taken": places.Taken, "proven": places.Proven})
	Counts(m, "places_refused_total", "Browsers that found no place, or lost theirs, by reason.",
		"reason", map[string]uint64{
			"full": places.Full, "crowded": places.Crowded, "gave_way": places.GaveWay,
			"not_proven": places.Lapsed,
		})
	Counts(m, "suspicious_packets_total", "Packets that were not as they should be.", "kind", bad)
	var n float64
	var least, most, all time.Duration
	var lossIn, lossOut float64
	narrow, queue := 0, time.Duration(0)
	var ahead, busy, busiest, again float64
	for seat := range s.Seats {
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
		queue = max(queue, q.Queue)
		f := seat.Predicts()
		ahead, again = ahead+float64(f.Ahead)/16, again+float64(f.Again)
		busy, busiest = busy+f.Share(), max(busiest, f.Share())
		if q.Limit > 0 {
			narrow++
		}
		n++
	}
	if n == 0 {
		return
	}
	Gauges(m, "round_trip_seconds",
		"Round trips of those who are connected: the least, the mean and the most.",
		"of", map[string]float64{
			"least": least.Seconds(), "mean": all.Seconds() / n, "most": most.Seconds(),
		})
	m.Gauge("client_ahead_ticks", "Mean ticks that clients are ahead of their newest snapshot, as "+
		"they say.", ahead/n)
	m.Gauge("client_predicted_again_per_second",
		"Mean ticks a second that clients compute again, as they say.", again/n)
	Gauges(m, "client_busy_ratio",
		"Share of its time that a client is busy with prediction, as it says.",
		"of", map[string]float64{"mean": busy / n, "most": busiest})
	Gauges(m, "loss_ratio", "Mean share of packets lost, to clients (out) and from them (in).",
		"direction", map[string]float64{"in": lossIn / n, "out": lossOut / n})
	m.Gauge("narrow_paths", "Clients who are sent less because their path carries no more.",
		float64(narrow))
	m.Gauge("queue_seconds", "The longest wait of packets on the way to a client.",
		queue.Seconds())
}

// Suspicious adds up what connections met that was not as it should be, and whom they refused, by
// kind.
func Suspicious(x *conn.Stats, bad, refused map[string]uint64) {
	bad["malformed"] += x.Malformed
	bad["unknown"] += x.Unknown
	bad["forged"] += x.Forged
	bad["replayed"] += x.Replayed
	bad["violations"] += x.Violations
	bad["bad_tokens"] += x.BadTokens
	bad["bad_cookies"] += x.BadCookies
	bad["bad_proofs"] += x.BadProofs
	bad["flooded"] += x.Flooded
	bad["crowded"] += x.Crowded
	bad["timed_out"] += x.TimedOut
	bad["no_acks"] += x.NoAcks
	bad["copied_paths"] += x.Stayed
	bad["bad_shares"] += x.BadShares
	for i, n := range x.Refusals {
		if n > 0 {
			refused[strings.ReplaceAll(conn.Reason(i).String(), " ", "_")] += n
		}
	}
}
