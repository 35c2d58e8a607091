package peerlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// Join is how somebody joined a match late.
type Join struct {
	Bytes   int     `json:"world_bytes" head:"world, bytes"` // saved
	Seconds float64 `json:"seconds" head:"plays after, s" as:"%.2f"`
	// Before and Meanwhile are how the others fared in as long a time before, and while somebody
	// joined.
	Before    Fared `json:"before"`
	Meanwhile Fared `json:"meanwhile"`
	Compared
}

// Fared is how those who play fared in some time.
type Fared struct {
	When    string  `json:"when" head:"when"`
	Waits   int     `json:"waits" head:"ticks that waited"`
	Waited  float64 `json:"waited_ms" head:"in all, ms" as:"%.1f"`
	Longest float64 `json:"longest_ms" head:"longest, ms" as:"%.1f"`
}

// joinTime is how long somebody may take.
const joinTime = 60 * time.Second

// runJoin lets one more join a match of o.Players.
func runJoin(ctx context.Context, o *Options) (*Result, error) {
	rules := heap(o.Bytes / brickBytes)
	m := newMatch(ctx, o, rules)
	defer m.close()
	name := o.Styles[0]
	m.style = o.style(name)
	m.world = func() (*world.World, error) { return rules.New(world.Settings{Seed: o.Seed}) }
	m.bot = func(i int) game.Bot { return pusher(uint64(i)) }
	m.founds = peers.Match{Seed: o.Seed, Seats: o.Players + 1, Start: o.Players, Doom: name == Doom,
		Commit: name == Commit}
	for range o.Players {
		m.sit()
	}
	o.Progress.Tell(0, "the match begins")
	m.until(joinTime, "all play", m.playing)
	m.pass(o.Warm, o.Progress.Within(0, 0.3), "warming up")
	m.begin()
	const before = 3 * time.Second
	m.pass(before, o.Progress.Within(0.3, 0.3), "before")
	r := &Result{Game: rules.Name(), Players: o.Players, Rate: rules.Rate(), Packets: o.Packets,
		Relay: o.Relay, Path: pathText(o.Conditions), Seed: o.Seed, Seconds: before.Seconds()}
	if m.err != nil {
		return nil, m.err
	}
	r.Join = &Join{Bytes: len(m.seats[0].World().Host().Save(nil)),
		Before: m.fared("before")}
	at := m.net.Now()
	for _, s := range m.seats {
		s.begin()
	}
	late := m.sit()
	m.until(joinTime, "the newcomer plays", late.plays)
	r.Join.Seconds = (m.net.Now() - at).Seconds()
	r.Join.Meanwhile = m.fared("while somebody joins")
	m.pass(time.Second, o.Progress.Within(0.9, 0.1), "after")
	if m.err != nil {
		return nil, m.err
	}
	r.Join.Compared, r.Series = m.count, m.series
	r.Targets = append(r.Targets,
		lab.Target{What: "seconds until the newcomer plays", Got: r.Join.Seconds, Want: "at most 3",
			Reached: r.Join.Seconds <= 3},
		lab.Target{What: "ticks of others that waited more than before",
			Got:  float64(r.Join.Meanwhile.Waits - r.Join.Before.Waits),
			Want: "none", Reached: r.Join.Meanwhile.Waits <= r.Join.Before.Waits})
	return r, nil
}

// fared sums up how those in the match fared since they began.
func (m *match) fared(when string) Fared {
	f := Fared{When: when}
	for _, s := range m.seats[:m.o.Players] { // and not who joins
		f.Waits += s.stills
		f.Waited += lab.Millis(s.still)
		f.Longest = max(f.Longest, lab.Millis(s.longest))
	}
	return f
}

func (j *Join) report(p *lab.Report) {
	p.Say("Somebody joins with a world of %s: plays after %.2f s. %d settled worlds compared, %d "+
		"different.", kilo(j.Bytes), j.Seconds, j.Compared.Compared, j.Different)
	p.Table([]Fared{j.Before, j.Meanwhile}, "When | Waits, Waited, Longest")
}

func kilo(n int) string { return fmt.Sprintf("%d kB", n/1000) }
