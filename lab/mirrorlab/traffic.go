package mirrorlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
	"github.com/coeval-dev/coeval/netsim"
)

// Traffic is what mirrors send each other, all of them together, and what the model of the paper's
// chapter 2 says that they should: b n (m-1), for n clients on m mirrors, where b is what one
// client's commands take from one mirror to one other. A mirror with k clients sends P packets a
// second, which all go to each of the others; so
//
//	b = P/k (Packet + Proof (m-2) + Command Q)
//
// with Q = k R / P commands in a packet, R ticks a second. Packet and Command are fitted to two
// mirrors on a perfect network, with three clients each and with k, or six if that is more; P is
// what those with k sent. What guards against loss is left out: the model knows nothing of loss,
// nor of how many mirrors there are beyond the proof that each packet has for each.
type Traffic struct {
	KBits   float64            `json:"kbits"`        // by the mirrors' ledgers
	Sockets float64            `json:"socket_kbits"` // by the sockets: the same
	By      map[string]float64 `json:"kbits_by_purpose"`
	Packets float64            `json:"packets_per_second_and_mirror"`

	Packet  float64 `json:"packet_bytes"`
	Command float64 `json:"command_bytes"`
	Proof   float64 `json:"proof_bytes"`
	P       float64 `json:"model_packets_per_second_and_mirror"`
	B       float64 `json:"b"`     // of the model
	Model   float64 `json:"model"` // b n (m-1)
	Ratio   float64 `json:"ratio"` // measured by model
}

// proofBytes are what package crimp adds to a packet for each further member, so that each can
// check who made it: see crimp.Tags.
const proofBytes = 8

// traffic adds up what was sent since begin.
func (f *cluster) traffic(seconds float64) Traffic {
	t := Traffic{By: map[string]float64{}, Proof: proofBytes}
	rate := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / seconds }
	var all machineTotals
	for _, s := range f.machines {
		all = lab.Sum(all, lab.Less(s.totals(), s.from))
	}
	for i, n := range all.Traffic.Sent {
		if n > 0 {
			t.By[crimp.Purpose(i).String()] = rate(n)
		}
	}
	t.KBits, t.Sockets = rate(all.Traffic.Total()), rate(all.Socket.SentBytes)
	t.Packets = float64(all.Stats.Sent) / seconds / float64(len(f.machines))
	return t
}

// Times of the runs to which the model is fitted.
const (
	fitWarm = 4 * time.Second
	fitTime = 4 * time.Second
	// Players of each of two mirrors to which sizes are fitted: with both, mirrors send as often as
	// they may, and so what they send besides commands is the same.
	fitFew, fitMany = 3, 6
)

// fit finds the model's sizes and puts what it says beside what was measured.
func (t *Traffic) fit(ctx context.Context, o *Options, rate int) error {
	// commands in a packet; bytes of all sorts for each packet that was sent to one other
	var x, y []float64
	few, many := fitFew, max(o.Players, fitMany)
	for _, k := range []int{few, many, o.Players} {
		if len(x) > 1 && (k == few || k == many) {
			break // it was measured
		}
		perPacket, bytes, packets, err := fitRun(ctx, o, k)
		if err != nil {
			return fmt.Errorf("two mirrors with %d players each: %w", k, err)
		}
		x, y = append(x, perPacket), append(y, bytes)
		if k == o.Players {
			t.P = packets
		}
	}
	t.Command = (y[1] - y[0]) / (x[1] - x[0])
	t.Packet = y[0] - t.Command*x[0]
	k, m := float64(o.Players), float64(o.Mirrors)
	t.B = t.P / k * (t.Packet + t.Proof*(m-2) + t.Command*k*float64(rate)/t.P) * 8 / 1000
	t.Model = bandwidthlab.Variables{B: t.B}.Counted(bandwidthlab.Mirrored, k*m, m).Private
	t.Ratio = t.KBits / t.Model
	return nil
}

// fitRun has two mirrors play with so many players each, on a network that loses nothing.
func fitRun(ctx context.Context, o *Options, players int) (perPacket, bytes, packets float64,
	err error) {
	c := *o
	c.Mirrors, c.Players = 2, players
	c.Between = netsim.Both(netsim.Profile{Latency: pathDelay(o.Between)})
	f := newCluster(ctx, &c, o.Seed+100)
	defer f.close()
	if err := f.assemble(2, players, 2*players); err != nil {
		return 0, 0, 0, err
	}
	if err := f.Play(fitWarm, fitTime, f.begin, nil, ""); err != nil {
		return 0, 0, 0, err
	}
	sent := 0.0
	for _, s := range f.machines {
		sent += float64(s.mirror.Stats().Sent - s.from.Stats.Sent)
	}
	t := f.traffic(fitTime.Seconds())
	// Until a group knows that nothing is lost it sends more than it need.
	t.KBits -= t.By[crimp.SentForward.String()] + t.By[crimp.SentRepair.String()]
	rate := float64(f.Title.Game.Rate())
	return 2 * float64(players) * rate * fitTime.Seconds() / sent,
		t.KBits * 1000 / 8 * fitTime.Seconds() / sent, t.Packets, nil
}
