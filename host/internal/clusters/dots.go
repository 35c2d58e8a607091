//go:build !js

package clusters

import (
	"encoding/json"
	"net/http"

	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/zone"
)

// mostDots is of how many things of a zone a server says where they are.
const mostDots = 400

// seen is what a server tells a page that people look at.
type seen struct {
	Zones     []seenZone `json:"zones"`
	HandOvers uint64     `json:"handovers"`
	Late      []uint64   `json:"late"` // hand-overs, by how many ticks late they were
}

// seenZone is one zone of it: where things are, and whether each is a player's.
type seenZone struct {
	Zone zone.ID      `json:"zone"`
	Dots [][3]float32 `json:"dots"`
}

// dots answers where things are.
func (s *site) dots(w http.ResponseWriter, r *http.Request) {
	n, err := s.server.Numbers(r.Context())
	x := seen{HandOvers: n.Protocol.HandOvers, Late: n.Protocol.Late[:]}
	if err == nil {
		err = s.server.Do(r.Context(), func() {
			for _, id := range s.server.Zones() {
				z := seenZone{Zone: id, Dots: [][3]float32{}}
				for _, d := range s.server.Dots(id, mostDots, nil) {
					z.Dots = append(z.Dots, dot(d))
				}
				x.Zones = append(x.Zones, z)
			}
		})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&x) // whoever does not hear it has gone
}

func dot(d seamless.Dot) [3]float32 {
	owned := float32(0)
	if d.Owned {
		owned = 1
	}
	return [3]float32{d.X, d.Y, owned}
}
