//go:build !js

package dis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/network"
)

// flight is entities of our own, which fly about.
type flight struct {
	reach
	entities, site, application, version int
	at, kind                             string
	seed                                 uint64

	sender dis.Sender
	planes []plane
	sent   int
}

// plane flies turns, one after another.
type plane struct {
	r    det.Rand
	body reckon.Body
	left int
}

func flyCommand() *cobra.Command {
	var f flight
	cmd := &cobra.Command{
		Use:   "fly",
		Short: "Fly aircraft in an exercise, to try it",
		Long: `Fly aircraft about in an exercise. Each is told when it is 1 m or 3 degrees from
where the others reckon it, and every 5 s all the same. Says at the end how many
PDUs that took, of those that 30 a second would be.`,
		Example: `  {program} dis fly
  {program} dis fly --entities 50 --at 37.8,-122.4,500 --for 1m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.flags(cmd)
	l := cmd.Flags()
	l.IntVar(&f.entities, "entities", 5, "how many aircraft")
	l.IntVar(&f.site, "site", 1, "number of our site")
	l.IntVar(&f.application, "application", 1, "number of our application")
	l.IntVar(&f.version, "version", 7, "of DIS, 6 or 7")
	l.StringVar(&f.at, "at", "37.8,-122.4,1000", "`LAT,LON,HEIGHT` about which they fly")
	l.StringVar(&f.kind, "type", "1.2.225.1.9.0.0", "`TYPE` of entity that they are")
	l.Uint64Var(&f.seed, "seed", 1, "random seed of how they fly")
	return cmd
}

// spot reads LAT,LON,HEIGHT.
func spot(text string) (dis.Spot, error) {
	var n [3]float64
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 3 {
		return dis.Spot{}, cli.Usagef("%q is no place: write LAT,LON or LAT,LON,HEIGHT", text)
	}
	for i, p := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || x-x != 0 {
			return dis.Spot{}, cli.Usagef("%q in a place is not a number", p)
		}
		n[i] = x
	}
	if n[0] < -90 || n[0] > 90 || n[1] < -180 || n[1] > 180 {
		return dis.Spot{}, cli.Usagef("%q is not on Earth: latitudes are from -90 to 90, "+
			"longitudes from -180 to 180", text)
	}
	return dis.Spot{Lat: det.Degrees(n[0]), Lon: det.Degrees(n[1]), Height: n[2]}, nil
}

func (f *flight) run(cmd *cobra.Command) error {
	if err := f.prepare(); err != nil {
		return err
	}
	n, ctx, end, err := f.join(cmd)
	if err != nil {
		return err
	}
	defer end()
	const tick = time.Second / 60
	start, ticks := time.Now(), 0
	for ctx.Err() == nil {
		for time.Duration(ticks)*tick <= time.Since(start) {
			if err := f.tick(n, time.Duration(ticks)*tick); err != nil {
				return err
			}
			ticks++
		}
		for _, err := range n.Receive(time.Duration(ticks)*tick - time.Since(start)) {
			if err != nil {
				return err
			}
		}
	}
	for i := range f.planes {
		if err := n.Send(f.sender.Remove(nil, stampNow(), uint16(i+1))); err != nil {
			return err
		}
	}
	full := float64(len(f.planes)) * 30 * time.Since(start).Seconds()
	fmt.Fprintf(cmd.OutOrStdout(), "%d updates of %d aircraft in %.1f s: 30 a second each would "+
		"be %.1f times as many\n", f.sent, len(f.planes), time.Since(start).Seconds(),
		full/float64(max(f.sent, 1)))
	return f.over(cmd)
}

func (f *flight) prepare() error {
	if f.entities < 1 || f.entities > 10000 {
		return cli.Usagef("%d aircraft: choose 1 to 10000", f.entities)
	}
	if f.version != 6 && f.version != 7 {
		return cli.Usagef("version %d: choose 6 or 7", f.version)
	}
	for _, n := range []int{f.site, f.application} {
		if n < 1 || n >= dis.AssignToMe {
			return cli.Usagef("number %d of a site or application: choose 1 to %d", n,
				dis.AssignToMe-1)
		}
	}
	place, err := spot(f.at)
	if err != nil {
		return err
	}
	kind, err := dis.ParseType(f.kind)
	if err != nil {
		return cli.Usage(err)
	}
	f.sender = dis.Sender{Site: uint16(f.site), Application: uint16(f.application),
		Header: dis.Header{Version: uint8(f.version), Exercise: uint8(f.exercise)}}
	ground := dis.NewGround(place, 0)
	for i := range f.entities {
		p := plane{r: det.At(f.seed, uint64(i), 0)}
		heading := float64(p.r.Angle())
		level := reckon.Body{Pos: det.Vec3{X: p.r.Range(-3000, 3000), Y: p.r.Range(-3000, 3000),
			Z: p.r.Range(0, 500)}, Facing: det.TurnBy(det.Vec3{Z: heading})}
		p.body = ground.BodyToWorld(&level)
		p.body.Vel = det.Vec3{X: 120}
		f.planes = append(f.planes, p)
		f.sender.Describe(uint16(i+1), &dis.EntityState{Force: uint8(1 + i%2), Type: kind,
			Marking: dis.Mark("coeval " + strconv.Itoa(i+1))})
	}
	return nil
}

// tick flies all of them for a sixtieth of a second, and tells what is due.
func (f *flight) tick(n *network.Network, now time.Duration) error {
	for i := range f.planes {
		p := &f.planes[i]
		if p.left--; p.left <= 0 {
			p.left = 120 + p.r.IntN(600)
			p.body.Spin = det.Vec3{Z: p.r.Range(-0.15, 0.15)} // level turns, as Z is down
		}
		p.body = reckon.RPB.After(&p.body, 1.0/60)
		b, why := f.sender.Move(nil, now, stampNow(), uint16(i+1), reckon.RPB, &p.body)
		if why == reckon.Kept {
			continue
		}
		f.sent++
		if err := n.Send(b); err != nil {
			return err
		}
	}
	return nil
}
