//go:build !js

package dis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/dis"
)

const listenLong = `Listen to an exercise and show who is there, reckoned to now: on a terminal as a
table that is kept up to date, with --map also as a map with north above; otherwise
as lines each second, or with --json as one object a line.

What is refused is counted by reason: malformed PDUs, those of other exercises,
numbers that are none, entities that jump or spin as nothing does, and clocks that
are of another day.`

// listener shows an exercise.
type listener struct {
	reach
	json, chart bool
	every       time.Duration
	rows        int

	cmd    *cobra.Command
	x      *dis.Exercise
	start  time.Time
	before uint64 // PDUs at the last report
	screen bool
}

func listenCommand() *cobra.Command {
	var l listener
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Show who is in an exercise, as a live table and map",
		Long:  listenLong,
		Example: `  {program} dis listen
  {program} dis listen --to 239.1.2.3:3000 --exercise 3 --map
  {program} dis listen --for 10s --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { l.cmd = cmd; return l.run() },
	}
	l.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&l.json, "json", false, "print JSON, one object a line")
	f.BoolVar(&l.chart, "map", false, "draw a map, too")
	f.DurationVar(&l.every, "every", time.Second, "how often to show what there is")
	f.IntVar(&l.rows, "rows", 30, "how many entities to show at most; JSON has all")
	return cmd
}

func (l *listener) run() error {
	if l.every < 10*time.Millisecond {
		return cli.Usagef("--every %v: choose 10ms or more", l.every)
	}
	n, ctx, end, err := l.join(l.cmd)
	if err != nil {
		return err
	}
	defer end()
	f, ok := l.cmd.OutOrStdout().(*os.File)
	l.screen = ok && !l.json && term.IsTerminal(int(f.Fd()))
	l.x = dis.NewExercise(dis.Options{Exercise: uint8(l.exercise)})
	l.start = time.Now()
	next := l.every
	for ctx.Err() == nil {
		now := time.Since(l.start)
		for d, err := range n.Receive(min(max(next-now, 0), 100*time.Millisecond)) {
			if err != nil {
				return err
			}
			l.x.Receive(time.Since(l.start), stampNow(), d.Data, nil)
		}
		now = time.Since(l.start)
		l.x.Tick(now)
		if now >= next {
			next = now + l.every
			if err := l.show(now); err != nil {
				return err
			}
		}
	}
	if err := l.show(time.Since(l.start)); err != nil {
		return err
	}
	return l.over(l.cmd)
}

// Seen is what is printed of an exercise. The names are for scripts and stay.
type Seen struct {
	Seconds   float64           `json:"seconds"`
	Datagrams uint64            `json:"datagrams"`
	Bytes     uint64            `json:"bytes"`
	PDUs      uint64            `json:"pdus"`
	Kinds     map[string]uint64 `json:"kinds"`
	Refused   map[string]uint64 `json:"refused"`
	OddClocks uint64            `json:"odd_clocks"`
	Forgotten uint64            `json:"forgotten"`
	Removed   uint64            `json:"removed"`
	Entities  []SeenEntity      `json:"entities"`
}

// SeenEntity is what is printed of an entity. The names are for scripts and stay.
type SeenEntity struct {
	ID      string     `json:"id"`
	Marking string     `json:"marking"`
	Type    string     `json:"type"`
	Force   string     `json:"force"`
	Model   string     `json:"model"`
	Lat     float64    `json:"lat"`
	Lon     float64    `json:"lon"`
	Height  float64    `json:"height"`
	Pos     [3]float64 `json:"pos"`
	Speed   float64    `json:"speed"`
	Heard   float64    `json:"heard"` // seconds ago
	Updates uint64     `json:"updates"`
}

func (l *listener) look(now time.Duration) Seen {
	c := &l.x.Counters
	s := Seen{Seconds: now.Seconds(), Datagrams: c.Datagrams, Bytes: c.Bytes,
		Kinds: map[string]uint64{}, Refused: map[string]uint64{}, OddClocks: c.OddClocks,
		Forgotten: c.Forgotten, Removed: c.Removed, Entities: []SeenEntity{}}
	for k, n := range c.Kinds {
		if n > 0 {
			s.Kinds[dis.Kind(k).String()] = n
			s.PDUs += n
		}
	}
	for r, n := range c.Refusals() {
		s.Refused[r.String()] = n
	}
	for e := range l.x.Entities() {
		b := e.At(now)
		spot := dis.SpotOf(b.Pos)
		s.Entities = append(s.Entities, SeenEntity{ID: e.ID.String(), Marking: e.Marking.String(),
			Type: e.Type.String(), Force: force(e.Force), Model: e.Model.String(),
			Lat: spot.Lat.Degrees(), Lon: spot.Lon.Degrees(), Height: spot.Height,
			Pos: [3]float64{b.Pos.X, b.Pos.Y, b.Pos.Z}, Speed: b.Vel.Len(),
			Heard: e.Heard(now).Seconds(), Updates: e.Updates})
	}
	return s
}

func (l *listener) show(now time.Duration) error {
	s := l.look(now)
	out := l.cmd.OutOrStdout()
	if l.json {
		return json.NewEncoder(out).Encode(s)
	}
	var b bytes.Buffer
	if l.screen {
		b.WriteString("\x1b[H\x1b[J")
	}
	rate := float64(s.PDUs-l.before) / l.every.Seconds()
	l.before = s.PDUs
	fmt.Fprintf(&b, "%.1f s: %d entities, %d PDUs (%.0f a second), %d bytes", s.Seconds,
		len(s.Entities), s.PDUs, rate, s.Bytes)
	for r, n := range l.x.Counters.Refusals() {
		fmt.Fprintf(&b, "; refused, %v: %d", r, n)
	}
	if s.OddClocks > 0 {
		fmt.Fprintf(&b, "; clocks of another day: %d", s.OddClocks)
	}
	b.WriteByte('\n')
	if len(s.Entities) > 0 {
		table(&b, s.Entities, l.rows)
		if l.chart {
			chart(&b, s.Entities)
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}

// table lists entities, at most so many.
func table(b *bytes.Buffer, all []SeenEntity, most int) {
	fmt.Fprintf(b, "  %-17s %-11s %-20s %-8s %10s %11s %8s %7s %6s\n", "entity", "marking", "type",
		"force", "latitude", "longitude", "height", "m/s", "heard")
	for i, e := range all {
		if i == most {
			fmt.Fprintf(b, "  and %d more\n", len(all)-most)
			return
		}
		fmt.Fprintf(b, "  %-17s %-11s %-20s %-8s %10.5f %11.5f %8.0f %7.1f %6.1f\n", e.ID,
			e.Marking, e.Type, e.Force, e.Lat, e.Lon, e.Height, e.Speed, e.Heard)
	}
}

const (
	chartWide = 64
	chartHigh = 20
)

// chart draws a map of where entities are, with north above: a letter for each force, and a number
// where there are several.
func chart(b *bytes.Buffer, all []SeenEntity) {
	south, north, west, east := all[0].Lat, all[0].Lat, all[0].Lon, all[0].Lon
	for _, e := range all {
		south, north = min(south, e.Lat), max(north, e.Lat)
		west, east = min(west, e.Lon), max(east, e.Lon)
	}
	if east-west > 180 { // over the date line: a map of the whole world will do
		west, east = -180, 180
	}
	high, wide := max(north-south, 1e-4), max(east-west, 1e-4)
	var count, letters [chartHigh][chartWide]int
	for _, e := range all {
		y := int((north - e.Lat) / high * (chartHigh - 1))
		x := int((e.Lon - west) / wide * (chartWide - 1))
		y, x = min(max(y, 0), chartHigh-1), min(max(x, 0), chartWide-1)
		count[y][x]++
		letters[y][x] = int(e.Force[0])
	}
	fmt.Fprintf(b, "  %.4f N %.4f E to %.4f N %.4f E\n", south, west, north, east)
	b.WriteString("  +" + strings.Repeat("-", chartWide) + "+\n")
	for y := range chartHigh {
		b.WriteString("  |")
		for x := range chartWide {
			switch n := count[y][x]; {
			case n == 0:
				b.WriteByte(' ')
			case n == 1:
				b.WriteByte(byte(letters[y][x]))
			case n < 10:
				b.WriteByte(byte('0' + n))
			default:
				b.WriteByte('#')
			}
		}
		b.WriteString("|\n")
	}
	b.WriteString("  +" + strings.Repeat("-", chartWide) + "+\n")
}
