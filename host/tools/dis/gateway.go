//go:build !js

package dis

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/gateway"
	"github.com/coeval-dev/coeval/service/dis/network"
)

const gatewayLong = `Join two exercises over a line between them: one gateway at each end,
with --peer the address of the other's --line. Both are given the same key, made
with: {program} token key --out FILE

Updates are gathered for --every or until there are --quorum of them, and sent as
differences; what stands still is told a few times, and then by the gateway over
there. --near and --types say what the other side needs of this one.`

const gatewayExample = `  {program} dis gateway --key line.key --peer 198.51.100.7:4100
  {program} dis gateway --key line.key --peer 203.0.113.9:4100 --near 37.8,-122.4,0,50000`

// bridge is one gateway with its sockets.
type bridge struct {
	reach
	line, peer, key, near string
	types                 []string
	site, application     int
	o                     gateway.Options
	json                  bool

	cmd  *cobra.Command
	g    *gateway.Gateway
	here *network.Network
	over link.Link
	to   netip.AddrPort
	seal *sealer
	from time.Time
}

func gatewayCommand() *cobra.Command {
	var b bridge
	cmd := &cobra.Command{
		Use:     "gateway",
		Short:   "Join two exercises over a thinner line",
		Long:    gatewayLong,
		Example: gatewayExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { b.cmd = cmd; return b.run() },
	}
	b.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&b.key, "key", "", "`FILE` with the key that both gateways share")
	f.StringVar(&b.line, "line", ":4100", "`ADDR` and port to hear the other gateway on")
	f.StringVar(&b.peer, "peer", "", "`ADDR` and port of the other gateway")
	f.DurationVar(&b.o.Every, "every", 0,
		"gather updates for so long; 0 without --quorum: 50ms; below 0: not at all")
	f.IntVar(&b.o.Quorum, "quorum", 0, "send when there are so many updates; 0: by time alone")
	f.BoolVar(&b.o.Plain, "plain", false, "send whole PDUs, no differences")
	f.BoolVar(&b.o.Loud, "loud", false, "forward heartbeats of what stands still")
	f.StringVar(&b.near, "near", "",
		"forward only what is at most METRES away: `LAT,LON,HEIGHT,METRES`")
	f.StringSliceVar(&b.types, "types", nil,
		"forward only these `TYPES` of entities, like 1.2 for aircraft; all if not given")
	f.IntVar(&b.site, "site", 0, "number of a site that nobody may speak for, with --application")
	f.IntVar(&b.application, "application", 0, "number of an application, with --site")
	f.BoolVar(&b.json, "json", false, "print JSON, one object a line")
	for _, name := range []string{"key", "peer"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only if the flag did not exist
		}
	}
	return cmd
}

// options reads what is forwarded.
func (b *bridge) options() error {
	if b.site < 0 || b.site > 65533 || b.application < 0 || b.application > 65533 {
		return cli.Usagef("--site and --application are from 0 to 65533")
	}
	if b.o.Quorum < 0 {
		return cli.Usagef("--quorum %d: choose 0 or more", b.o.Quorum)
	}
	b.o.Exercise = dis.Options{Exercise: uint8(b.exercise), Site: uint16(b.site),
		Application: uint16(b.application)}
	for _, text := range b.types {
		t, err := dis.ParseType(text)
		if err != nil {
			return cli.Usage(err)
		}
		b.o.Types = append(b.o.Types, t)
	}
	if b.near == "" {
		return nil
	}
	place, metres, ok := cutLast(b.near)
	radius, err := strconv.ParseFloat(metres, 64)
	if !ok || err != nil || !(radius > 0) {
		return cli.Usagef("%q is no area: write LAT,LON,HEIGHT,METRES", b.near)
	}
	at, err := spot(place)
	if err != nil {
		return err
	}
	b.o.Near = gateway.Area{Pos: at.Pos(), Radius: radius}
	return nil
}

func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 || strings.Count(text, ",") != 3 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func (b *bridge) run() error {
	if err := b.check(); err != nil {
		return err
	}
	if err := b.options(); err != nil {
		return err
	}
	key, err := cli.ReadKey(b.key)
	if err != nil {
		return err
	}
	var session uint32
	if b.seal, session, err = newSealer(key[:]); err != nil {
		return err
	}
	if b.to, err = udp.Resolve(b.cmd.Context(), b.peer); err != nil {
		return err
	}
	if b.over, err = udp.Listen(b.line, udp.Options{MaxDatagram: maxLine}); err != nil {
		return err
	}
	defer b.over.Close()
	here, ctx, end, err := b.join(b.cmd)
	if err != nil {
		return err
	}
	defer end()
	b.here, b.g, b.from = here, gateway.New(b.o, session), time.Now()
	next := time.Second
	for ctx.Err() == nil {
		if err := b.step(ctx); err != nil {
			return err
		}
		if now := time.Since(b.from); now >= next {
			next = now + time.Second
			if err := b.show(now); err != nil {
				return err
			}
		}
	}
	if err := b.show(time.Since(b.from)); err != nil {
		return err
	}
	return b.reach.over(b.cmd)
}

// maxLine is the largest packet between gateways: the largest PDU, sealed.
const maxLine = 9000

// step takes what has come from both sides, and sends what is due.
func (b *bridge) step(context.Context) error {
	var batch [64]link.Datagram
	for {
		n, err := b.over.Receive(batch[:])
		if err != nil {
			return err
		}
		for _, d := range batch[:n] {
			plain, ok := b.seal.open(time.Now(), d.Data)
			if ok && b.g.FromLine(time.Since(b.from), stampNow(), plain) {
				b.to = d.Addr // it may have moved: the seal says that it is the other gateway
			}
		}
		if n < len(batch) {
			break
		}
	}
	for d, err := range b.here.Receive(5 * time.Millisecond) {
		if err != nil {
			return err
		}
		b.g.FromExercise(time.Since(b.from), stampNow(), d.Data)
	}
	b.g.Tick(time.Since(b.from), stampNow())
	for _, p := range b.g.ToLine {
		sealed := b.seal.seal(time.Now(), p)
		if _, err := link.SendAll(b.over, []link.Datagram{{Addr: b.to, Data: sealed}}); err != nil {
			return err
		}
	}
	for _, d := range b.g.ToExercise {
		if err := b.here.Send(d); err != nil {
			return err
		}
	}
	b.g.Reset()
	return nil
}

// Bridged is what is printed of a gateway. The names are for scripts and stay.
type Bridged struct {
	Seconds float64           `json:"seconds"`
	Here    int               `json:"here"` // entities of this side
	There   int               `json:"there"`
	Broken  uint64            `json:"broken_seals"`
	Gateway gateway.Counters  `json:"gateway"`
	Refused map[string]uint64 `json:"refused"`
}

func (b *bridge) show(now time.Duration) error {
	s := Bridged{Seconds: now.Seconds(), Here: b.g.Exercise().Len() - b.g.Far(), There: b.g.Far(),
		Broken: b.seal.broken, Gateway: b.g.Counters, Refused: map[string]uint64{}}
	s.Here = max(s.Here, b.g.Exercise().Len())
	for r, n := range b.g.Exercise().Counters.Refusals() {
		s.Refused[r.String()] = n
	}
	out := b.cmd.OutOrStdout()
	if b.json {
		return json.NewEncoder(out).Encode(s)
	}
	c := &s.Gateway
	_, err := fmt.Fprintf(out, "%.0f s: %d entities here, %d there; %d PDUs heard, %d culled, %d "+
		"hushed; %d packets and %d bytes sent, %d came, %d PDUs told; %d claims and %d broken "+
		"seals refused\n", s.Seconds, s.Here, s.There, c.Heard, c.Culled, c.Hushed, c.Packets,
		c.Bytes, c.Came, c.Told, c.Claimed, s.Broken)
	return err
}
