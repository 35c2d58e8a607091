package mirrorlab

import (
	"fmt"

	"github.com/coeval-dev/coeval/lab"
)

// Result is all that Run found. Times are in milliseconds, rates of bytes in kbit/s without the
// headers of UDP and IP, distances in the world's units. The JSON names are for scripts and stay.
type Result struct {
	Setting
	Sight       Sight       `json:"sight"`
	Shown       lab.Shown   `json:"shown"`
	Rollbacks   Rollbacks   `json:"rollbacks"`
	Corrections Corrections `json:"corrections"`
	Processor   *Processor  `json:"processor,omitempty"`
	Settled     Settled     `json:"settled"`
	Clock       Clocks      `json:"clock"`
	Traffic     Traffic     `json:"traffic"`
	Each        []MirrorRow `json:"each_mirror"`
	Series      []Moment    `json:"series"`
	// Plan says how auto came to its delays, on the first mirror.
	Plan string `json:"plan,omitempty"`
	// Explained has the report tell of it.
	Explained bool `json:"-"`

	Fault   *FaultResult `json:"fault,omitempty"`
	Targets []lab.Target `json:"targets"`
}

// Setting is what was measured.
type Setting struct {
	Game     string    `json:"game"`
	Seed     uint64    `json:"seed"`
	Mirrors  int       `json:"mirrors"`
	Players  int       `json:"players_on_each"`
	Timeline string    `json:"timeline"`
	Delays   []float64 `json:"delays_ms"` // as they were given, or nothing for the mirrors' own
	TickRate int       `json:"ticks_per_second"`
	Warm     float64   `json:"warm_seconds"`
	Seconds  float64   `json:"seconds"` // measured
	Between  string    `json:"network_between_mirrors"`
	Near     string    `json:"network_of_players"`
	Path     float64   `json:"path_ms"` // what a datagram takes from mirror to mirror on average
	// of all that the network carried: the same if two runs were the same
	Digest string `json:"digest"`
}

// Sight is how long after a player's command a player of another mirror is shown what came of it. A
// command has come into the world of another mirror when that mirror's leading world has executed
// it, at its tick or later, or a newer one of the same player.
type Sight struct {
	// From the moment that a command came in at its mirror: until another mirror's leading world
	// has executed it; until that mirror has then sent the next snapshot to a player of its own;
	// and until that player's client has taken it in, which counts only players that it has in
	// view.
	Executed Spread `json:"entered_to_executed"`
	Sent     Spread `json:"entered_to_sent"`
	Taken    Spread `json:"entered_to_client"`
	// From the moment that a client gave it, until the other's client has taken it in.
	Whole Spread `json:"given_to_client"`
	// HomeSent and Home are Sent and Whole for two players of one mirror.
	HomeSent Spread `json:"entered_to_sent_of_same_mirror"`
	Home     Spread `json:"given_to_client_of_same_mirror"`
	// Early is how long before its tick was closed a command came in at its mirror.
	Early Spread `json:"early"`
	// PassedOver is the share of commands that another mirror's leading world did not execute
	// itself, since a newer one of the player came first.
	PassedOver float64 `json:"passed_over"`
	// Asked is the path's delay and two ticks.
	Asked float64 `json:"asked_ms"`
}

// Rollbacks are how often leading worlds had to be repaired, over all mirrors.
type Rollbacks struct {
	Commands    int     `json:"commands"`
	Late        int     `json:"late"` // after the leading world had passed their ticks
	Rollbacks   int     `json:"rollbacks"`
	PerThousand float64 `json:"per_1000_commands"`
	Seen        int     `json:"seen"`      // that reached the leading world
	Refreshes   int     `json:"refreshes"` // that took away what no one had seen
	Depth       float64 `json:"mean_depth_ticks"`
	Deepest     int     `json:"deepest_ticks"` // since the start
	StepsATick  float64 `json:"steps_per_tick"`
	// Returns is how often leading worlds were taken back at once, to a late command's own tick, a
	// tick of a mirror, and ReturnDepth how many ticks that was on average. Rollbacks do not count
	// them.
	Returns     float64 `json:"returns_per_tick"`
	ReturnDepth float64 `json:"mean_return_ticks"`
	// Warming is rollbacks for 1000 commands before the time that is measured, while auto learns.
	Warming float64 `json:"per_1000_commands_warming_up"`
	// Events that were shown before they were settled, and how many of those were taken back.
	Provisional uint64  `json:"events_provisional"`
	Retracted   uint64  `json:"events_retracted"`
	PerMinute   float64 `json:"retracted_per_minute_and_mirror"`
	// Leading is the leading worlds' delay, over time.
	Leading Spread `json:"leading_delay"`
}

// Corrections are how often clients had to move their own player's body by more than five
// hundredths, on average in a minute for each player.
type Corrections struct {
	Kept
	// Repaired is how often a repair of a leading world changed a body of a player of that mirror
	// at all.
	Repaired float64 `json:"bodies_repaired_per_minute"`
	// Plain is the same clients on one server that is as near to each as the mirrors are, and
	// Distant on one that is as far as a mirror beyond the own one.
	Plain   *Kept `json:"plain_server,omitempty"`
	Distant *Kept `json:"distant_server,omitempty"`
}

// Kept are corrections by their causes, a minute and player. Each counts once, for the first cause
// that applies.
type Kept struct {
	All float64 `json:"per_minute" head:"all" as:"%.2f"`
	// TakenBack: the mirror repaired its leading world in between, and that changed this body. It
	// is what comes of mirrors.
	TakenBack float64 `json:"taken_back_per_minute" head:"taken back" as:"%.2f"`
	// Struck: the player was hit, or died, or came back, or saw that coming and it did not.
	// Contact: another body was near, and it depends on where that is. Rest is all else.
	Struck  float64 `json:"struck_per_minute" head:"hit or killed" as:"%.2f"`
	Contact float64 `json:"contact_per_minute" head:"contact" as:"%.2f"`
	Rest    float64 `json:"rest_per_minute" head:"rest" as:"%.2f"`
	// Ahead is by how many ticks clients were past their newest snapshot, and Late the share of
	// commands that came too late at the server.
	Ahead float64 `json:"ahead_ticks" head:"ahead ticks" as:"%.1f"`
	Late  float64 `json:"commands_late" head:"late" as:"%.2f %%"`
	// Snapshots is how many a second a client got.
	Snapshots float64 `json:"snapshots_per_second" head:"snapshots/s" as:"%.1f"`
	// Down and Up are what a client received and sent, in kbit/s.
	Down    float64 `json:"kbits_down" head:"kbit/s down" as:"%.1f"`
	Up      float64 `json:"kbits_up" head:"kbit/s up" as:"%.1f"`
	Minutes float64 `json:"player_minutes"`
}

// Settled compares the settled worlds of all mirrors, tick by tick, from the first to the last.
type Settled struct {
	Ticks     int    `json:"ticks"`    // that all mirrors settled
	Compared  int    `json:"compared"` // worlds with that of who settled the tick first
	Different int    `json:"different"`
	First     string `json:"first_difference,omitempty"`
	Delay     Spread `json:"delay"` // behind the present
}

// Clocks say how well mirrors agree about the time.
type Clocks struct {
	DriftPPM float64 `json:"drift_ppm"` // of their own clocks, at most
	// of one from the mean of all: the truth, which only a simulation knows
	Error Spread `json:"error"`
	Bound Spread `json:"bound"` // as mirrors themselves report
	// Beyond is how often the error between two mirrors was more than both reported together.
	Beyond int `json:"error_beyond_bound"`
}

// MirrorRow is one mirror over the time that is measured.
type MirrorRow struct {
	Name string `json:"name" head:"mirror"`
	// since it was started
	Serving float64 `json:"serving_after_ms" head:"served after ms" as:"%.0f"`
	// of its copies of the world, at the end
	Delays     []float64 `json:"delays_ms" head:"delays ms"`
	Commands   int       `json:"commands" head:"commands"`
	Late       int       `json:"late" head:"late"`
	Rollbacks  int       `json:"rollbacks" head:"rollbacks"`
	Packets    uint64    `json:"packets_sent" head:"packets"`
	KBits      float64   `json:"kbits_sent" head:"kbit/s out" as:"%.1f"`
	ClockError float64   `json:"clock_error_ms" head:"clock off ms" as:"%.2f"` // most
	Rejoins    uint64    `json:"rejoins"`
}

// Moment is one second of a run, for plots: totals of all mirrors in that second.
type Moment struct {
	Second    float64 `json:"second"`
	Rollbacks int     `json:"rollbacks"`
	Retracted uint64  `json:"retracted"`
	Settled   float64 `json:"settled_delay_ms"`
	Leading   float64 `json:"leading_delay_ms"`
	KBits     float64 `json:"kbits"`
}

func (r *Result) target(what string, got float64, want string, reached bool) {
	r.Targets = append(r.Targets, lab.Target{What: what, Got: got, Want: want, Reached: reached})
}

// Figures that should be reached where mirrors are 40 ms apart with 5 ms of jitter.
const (
	askedTicks       = 2
	askedRollbacks   = 5
	askedCorrections = 1
	askedTraffic     = 0.20
	askedHome        = 75.0 // ms, from client to client of one mirror
	askedOff         = 0.10 // bodies off by more than 0.05 when first shown
	askedFar         = 0.005
	askedTaken       = 0.02 // events taken back
	askedSteps       = 6.0
	askedProcessor   = 2.5
	correctionFrom   = 0.05
)

// judge holds what was found against what is asked.
func (r *Result) judge() {
	r.target("sight at another mirror, median ms: command in until snapshot out",
		r.Sight.Sent.Median, fmt.Sprintf("<= %.1f", r.Sight.Asked),
		r.Sight.Sent.Median <= r.Sight.Asked)
	r.target("rollbacks for 1000 commands", r.Rollbacks.PerThousand, "< 5",
		r.Rollbacks.PerThousand < askedRollbacks)
	r.target("own corrections from mirrors, a minute and player", r.Corrections.TakenBack, "< 1",
		r.Corrections.TakenBack < askedCorrections)
	r.target("sight within one mirror, median ms: client to client", r.Sight.Home.Median,
		fmt.Sprintf("<= %.0f", askedHome), r.Sight.Home.Median <= askedHome)
	s := &r.Shown
	r.target("bodies off by more than 0.05 when first shown, %", 100*s.OffSome, "<= 10",
		s.OffSome <= askedOff)
	r.target("bodies off by more than 0.5 when first shown, %", 100*s.OffFar, "<= 0.5",
		s.OffFar <= askedFar)
	r.target("events taken back, %", 100*s.TakenShare, "<= 2", s.TakenShare <= askedTaken)
	r.target("world steps a tick", r.Rollbacks.StepsATick, "<= 6",
		r.Rollbacks.StepsATick <= askedSteps)
	if p := r.Processor; p != nil && p.Ratio > 0 {
		r.target("processor time of a mirror by that of a plain server", p.Ratio, "<= 2.5",
			p.Ratio <= askedProcessor)
	}
	r.target("settled worlds that differ", float64(r.Settled.Different), "0",
		r.Settled.Different == 0 && r.Settled.Compared > 0)
	r.target("traffic between mirrors by model", r.Traffic.Ratio, "0.8 to 1.2",
		r.Traffic.Ratio >= 1-askedTraffic && r.Traffic.Ratio <= 1+askedTraffic)
}

// Check is an error where mirrors settled different worlds, which they never may. What else was
// missed is in Targets.
func (r *Result) Check() error {
	if r.Settled.Different > 0 {
		return fmt.Errorf("%d of %d settled worlds differ, with seed %d: %s", r.Settled.Different,
			r.Settled.Compared, r.Seed, r.Settled.First)
	}
	return nil
}

// Missed is an error that lists what was not reached.
func (r *Result) Missed() error { return lab.Missed(r.Targets) }
