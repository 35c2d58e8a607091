package entry

import (
	"net/netip"

	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
)

// A Player is someone who plays over a network, such as a client.Session.
type Player interface {
	Playing() bool
	Moving() bool
	Style() predict.Style
	Server() netip.AddrPort
	Numbers() client.Numbers
}

// Stats adds how it goes for a player, by the names that the panel of package web knows.
func Stats(out map[string]any, p Player) {
	n := p.Numbers()
	out["playing"], out["moving"], out["style"] = p.Playing(), p.Moving(), p.Style().String()
	out["roundTrip"], out["jitter"] = n.RoundTrip.Seconds()*1000, n.Jitter.Seconds()*1000
	out["allowed"], out["limit"] = n.Rate, n.Limit
	out["queueOut"], out["queueIn"] = n.QueueOut.Seconds()*1000, n.QueueIn.Seconds()*1000
	out["lossIn"], out["lossOut"] = n.LossIn, n.LossOut
	out["ahead"], out["behind"], out["early"] = n.Ahead, n.Behind, float64(n.Early)/4
	out["corrected"], out["own"], out["repredictions"] = n.Corrected, n.Own, n.Repredictions
	for name, count := range map[string]uint64{
		"snapshots": n.Snapshots, "snapshotBytes": n.SnapshotBytes,
		"received": n.Received, "sent": n.Sent, "corrections": n.Corrections,
		"returns": n.Returns, "worlds": n.Worlds, "moves": n.Moves,
		"nearer": n.Nearer, "retracted": n.Retracted, "bad": n.Bad,
	} {
		out[name] = int(count)
	}
	if at := p.Server(); at.IsValid() {
		out["server"] = at.String()
	}
}
