package peer

import (
	"time"

	"github.com/coeval-dev/coeval/topology/peers"
)

func ms(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond)) / 1e6 }

// StyleName is what people call a style.
func StyleName(s peers.Style) string {
	if s.Depth == 0 {
		return "lockstep"
	}
	return "rollback"
}
