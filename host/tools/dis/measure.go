//go:build !js

package dis

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/gateway"
)

// measured is what measure prints. The names are for scripts and stay.
type measured struct {
	Lines      []gateway.Measured `json:"lines"`
	Thresholds []threshold        `json:"thresholds"`
	Load       load               `json:"load"`
}

// threshold is how much a flight takes to tell at some bounds.
type threshold struct {
	Metres       float64 `json:"metres"`
	Degrees      float64 `json:"degrees"`
	PerSecond    float64 `json:"updates_a_second"`
	TimesFewer   float64 `json:"times_fewer_than_30"`
	WorstMetres  float64 `json:"worst_metres"`
	WorstDegrees float64 `json:"worst_degrees"`
}

// load is what ten thousand entities take.
type load struct {
	Entities    int     `json:"entities"`
	SecondTakes float64 `json:"second_takes_s"` // of one core
	EncodeNanos float64 `json:"encode_ns"`
	DecodeNanos float64 `json:"decode_ns"`
	Frames      int     `json:"frames_a_second"`
}

// String is the report for people.
func (m measured) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a line between two gateways\n  %-31s %8s %8s %8s %9s %8s %8s %6s\n", "",
		"PDUs", "packets", "fewer", "bytes", "fewer", "than gathered", "wrong")
	for _, l := range m.Lines {
		fmt.Fprintf(&b, "  %-31s %8d %8d %7.1f%% %9d %7.1f%% %12.1f%% %6d\n", l.Name, l.Said,
			l.Packets, l.FewerPackets, l.Bytes, l.FewerBytes, l.FewerThanGathered,
			l.Wrong+l.Unheard)
	}
	fmt.Fprintf(&b, "a flight that turns and changes its throttle, told by RVB\n  %8s %8s %16s "+
		"%16s %12s %14s\n", "metres", "degrees", "updates a second", "fewer than 30",
		"worst metres", "worst degrees")
	for _, t := range m.Thresholds {
		fmt.Fprintf(&b, "  %8.2f %8.2f %16.3f %15.1fx %12.3f %14.3f\n", t.Metres, t.Degrees,
			t.PerSecond, t.TimesFewer, t.WorstMetres, t.WorstDegrees)
	}
	l := m.Load
	fmt.Fprintf(&b, "%d entities at a beat of 5 s, reckoned %d times a second: a second takes "+
		"%.3f s of one core\nan Entity State PDU: written in %.0f ns, read in %.0f ns\n",
		l.Entities, l.Frames, l.SecondTakes, l.EncodeNanos, l.DecodeNanos)
	return b.String()
}

func measureCommand() *cobra.Command {
	var entities, seconds int
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "measure",
		Short: "Measure gateways, thresholds and the cost of PDUs",
		Long: `Measure what gateways leave away of the traffic of an exercise, how rarely a flight
has to be told at several thresholds, with the error at every tick, and what ten
thousand entities cost. What came out at the other end is compared with what was
said, in the same run.`,
		Example: `  {program} dis measure
  {program} dis measure --entities 1000 --seconds 300 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if entities < 1 || entities > 20000 || seconds < 1 || seconds > 3600 {
				return cli.Usagef("choose 1 to 20000 entities and 1 to 3600 seconds")
			}
			m := measured{Lines: gateway.Measure(entities, seconds, seed), Load: measureLoad()}
			for _, b := range []reckon.Bounds{{Pos: 0.1, Turn: det.Degrees(0.5)},
				reckon.StandardBounds, {Pos: 5, Turn: det.Degrees(5)}} {
				m.Thresholds = append(m.Thresholds, measureFlight(b, seconds, seed))
			}
			return cli.Print(cmd.OutOrStdout(), m, asJSON)
		},
	}
	f := cmd.Flags()
	f.IntVar(&entities, "entities", 300, "how many entities are on one side of the line")
	f.IntVar(&seconds, "seconds", 120, "how long they move, in simulated time")
	f.Uint64Var(&seed, "seed", 1, "random seed of how they move")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// measureFlight flies ten aircraft and tells of them by given bounds.
func measureFlight(b reckon.Bounds, seconds int, seed uint64) threshold {
	t := threshold{Metres: b.Pos, Degrees: b.Turn.Degrees()}
	rules := reckon.Rules{Bounds: b, Beats: reckon.StandardBeats}
	const planes, rate = 10, 60
	updates := 0
	for i := range uint64(planes) {
		r := det.At(seed, i, 1)
		body := reckon.Body{Vel: det.Vec3{X: 150}, Facing: det.Identity}
		var pledge reckon.Pledge[reckon.Flight]
		left := 0
		for tick := range seconds * rate {
			now := time.Duration(tick) * time.Second / rate
			if left--; left <= 0 {
				left = rate + r.IntN(9*rate)
				body.Spin = det.Vec3{X: r.Range(-0.2, 0.2), Y: r.Range(-0.1, 0.1),
					Z: r.Range(-0.1, 0.1)}
				body.Accel = det.Vec3{X: r.Range(-4, 4)}
			}
			if v := body.Vel.X; v > 300 && body.Accel.X > 0 || v < 80 && body.Accel.X < 0 {
				body.Accel.X = 0
			}
			body = reckon.RVB.After(&body, 1.0/rate)
			if pledge.Check(&rules, now, &body) != reckon.Kept {
				pledge.Tell(&rules, now, reckon.Flight{Model: reckon.RVB, Body: body})
				updates++
			}
			shown := pledge.At(now)
			t.WorstMetres = max(t.WorstMetres, shown.Pos.Sub(body.Pos).Len())
			t.WorstDegrees = max(t.WorstDegrees, shown.Facing.To(body.Facing).Degrees())
		}
	}
	t.PerSecond = float64(updates) / planes / float64(seconds)
	t.TimesFewer = 30 / t.PerSecond
	return t
}

// measureLoad decodes and reckons ten thousand entities.
func measureLoad() load {
	l := load{Entities: 10000, Frames: 30}
	x := dis.NewExercise(dis.Options{})
	datagrams := make([][]byte, l.Entities)
	var p dis.EntityState
	for i := range datagrams {
		p = dis.EntityState{ID: dis.ID{Site: 1, Application: uint16(1 + i/1000),
			Number: uint16(1 + i%1000)}, Pos: det.Vec3{X: 6378137}, Vel: dis.Vec{10},
			Spin: dis.Vec{0, 0, 0.1}, Model: reckon.Model(1 + i%9)}
		datagrams[i] = p.Append(nil)
		x.Receive(0, 0, datagrams[i], nil)
	}
	best := func(rounds int, f func()) float64 {
		least := time.Hour
		for range rounds {
			start := time.Now()
			f()
			least = min(least, time.Since(start))
		}
		return least.Seconds()
	}
	l.SecondTakes = best(5, func() {
		for _, d := range datagrams[:l.Entities/5] {
			x.Receive(0, 0, d, nil)
		}
		for frame := range l.Frames {
			now := time.Duration(frame) * time.Second / time.Duration(l.Frames)
			for e := range x.Entities() {
				_ = e.At(now)
			}
		}
	})
	const n = 1000
	var buf []byte
	l.EncodeNanos = best(200, func() {
		for range n {
			buf = p.Append(buf[:0])
		}
	}) / n * 1e9
	l.DecodeNanos = best(200, func() {
		for _, d := range datagrams[:n] {
			_ = p.Read(d) // it is one that was just written
		}
	}) / n * 1e9
	return l
}
