package timeline_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// A mirror that is silent for seconds stops those who wait, and when it speaks again they catch up;
// those who do not wait go on.
func TestSilence(t *testing.T) {
	for _, m := range makers() {
		k := talk{ticks: 400, mirrors: 2, players: 2, do: busy, waits: m.waits,
			delay: func(m member.ID, n world.Tick) time.Duration {
				if m == 2 && n >= 100 && n < 220 {
					return at(220) - at(n)
				}
				return 0
			}}
		start := begin(t)
		behind := 0
		out, err := play(start, m, []member.ID{1, 2}, k.script(), 380,
			func(now time.Duration, line timeline.Timeline) error {
				behind = max(behind, int(now/length)-int(line.Leading().Tick()))
				return nil
			})
		if err == nil {
			err = judge(start, out, 380)
		}
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		late := out.fates[timeline.TooLate] > 0
		if m.waits && (late || behind < 100 || out.stats.Waited < time.Second) || !m.waits &&
			(!late || behind > 20) {
			t.Errorf("%s: %d ticks behind, %v %+v", m.name, behind, out.fates, out.stats)
		}
	}
}

// The delay of lock step follows the way, up and down, and on mirrors that talk to each other by
// Stamp no promise is broken.
func TestLockstepAdapts(t *testing.T) {
	var lines [2]*rivals.Lockstep
	for i := range lines {
		var err error
		if lines[i],
			err = rivals.NewLockstep(begin(t),
			rivals.LockstepOptions{Mirrors: []member.ID{0, 1}, Most: 20}); err != nil {
			t.Fatal(err)
		}
	}
	type packet struct {
		at time.Duration
		to int
		c  timeline.Command
	}
	var flying []packet
	var promised [2]world.Tick
	var seq [2]uint32
	delays := map[string]int{}
	const phase = 10 * time.Second
	for now := time.Duration(0); now < 3*phase; now += time.Millisecond {
		way, name := 20*time.Millisecond, "near"
		switch now / phase {
		case 1:
			way, name = 110*time.Millisecond, "far"
		case 2:
			way, name = 30*time.Millisecond, "near again"
		}
		n := 0
		for _, p := range flying {
			if p.at > now {
				flying[n] = p
				n++
			} else if _, err := lines[p.to].Submit(now, p.c); err != nil {
				t.Fatal(err)
			}
		}
		flying = flying[:n]
		for i, line := range lines {
			if err := line.Advance(now); err != nil {
				t.Fatal(err)
			}
			s := line.Stamp(now)
			if s <= promised[i] {
				continue
			}
			promised[i] = s
			var cs []timeline.Command
			if seq[i] == 0 {
				seq[i]++
				cs = append(cs,
					timeline.Command{
						Kind: timeline.Join, Tick: s, Origin: member.ID(i), Seq: 1,
						Player: world.Player(i + 1)})
			}
			seq[i]++
			cs = append(cs,
				timeline.Command{
					Tick: s, Origin: member.ID(i), Seq: seq[i], Player: world.Player(i + 1),
					Image: image(act{X: int8(s % 2)})},
				timeline.Command{
					Kind: timeline.Promise, Tick: s, Origin: member.ID(i), Seq: seq[i], Sent: now})
			for _, c := range cs {
				if _, err := line.Submit(now, c); err != nil {
					t.Fatal(err)
				}
				flying = append(flying, packet{now + way, 1 - i, c})
			}
		}
		delays[name] = lines[0].Delay()
	}
	if delays["near"] != 2 || delays["far"] < 7 || delays["far"] > 9 || delays["near again"] > 3 {
		t.Errorf("%v", delays)
	}
	if a, b := lines[0].Settled(), lines[1].Settled(); a.Tick() < 1700 || a.Tick() == b.Tick() &&
		a.Hash() != b.Hash() {
		t.Errorf("ticks %d and %d", a.Tick(), b.Tick())
	}
}

// What a mirror stamps itself is never late there, also if it comes at the very time of a tick that
// has just been computed.
func TestOwnCommandsAreInTime(t *testing.T) {
	for _, m := range makers() {
		if m.waits {
			continue // they compute only what was promised
		}
		line, err := m.make(begin(t), timeline.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		seq := uint32(0)
		for n := world.Tick(0); n < 60; n++ {
			for _, now := range []time.Duration{
				at(n), at(n), at(n) + 1, at(n) + 5*time.Millisecond} {
				if err := line.Advance(now); err != nil {
					t.Fatal(err)
				}
				seq++
				f, err := line.Submit(now,
					timeline.Command{
						Tick: line.Stamp(now), Origin: 1, Seq: seq, Player: 1,
						Image: image(act{X: 1})})
				if err != nil || f != timeline.OnTime {
					t.Fatalf("%s: at %v, tick %d, it is %v, %v", m.name, now, line.Leading().Tick(),
						f, err)
				}
			}
		}
	}
}

// Where worlds outgrow their memory, copies in between are given up, and nothing is lost.
func TestMemoryGrows(t *testing.T) {
	start := begin(t)
	line, err := timeline.NewTrailing(start, timeline.TrailingOptions{
		Options: timeline.Options{Memory: 4*start.Host().Size() + 100},
		Delays: timeline.DelaysOf(0, 50*time.Millisecond, 100*time.Millisecond,
			200*time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	k := talk{ticks: 200, mirrors: 2, players: 40, do: busy}
	s := k.script().sorted()
	for n := world.Tick(0); n < 200; n++ {
		for ; len(s) > 0 && s[0].at <= at(n); s = s[1:] {
			if _, err := line.Submit(s[0].at, s[0].Command); err != nil {
				t.Fatal(err)
			}
		}
		if err := line.Advance(at(n)); err != nil {
			t.Fatal(err)
		}
	}
	right, _ := oracle(start, k.script(), line.Settled().Tick())
	if d := line.Delays().List(); len(d) >= 4 || d[len(d)-1] != 200*time.Millisecond ||
		line.Settled().Hash() != right[line.Settled().Tick()] {
		t.Errorf("%v, %+v", d, line.Stats())
	}
}
