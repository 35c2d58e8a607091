//go:build !js

package mirrors

import (
	"fmt"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// A keeper is how a mirror's game is kept on disk.
type keeper struct {
	*keeping.Keeper
	host *host
}

var _ mirror.Keeper = keeper{}

// Begin is told of each world that the mirror goes on with.
func (k keeper) Begin(s *keep.Snapshot) error { return k.BeginStay(s) }

// Safe is told up to which tick the disks of all have the game.
func (k keeper) Safe(t world.Tick) {
	k.host.safe.Store(uint64(t))
	k.host.clerk.Safe()
}

// openKept opens the folder that the game is kept in, if there is one.
func (h *host) openKept() error {
	o := h.Keep
	if o.Dir == "" {
		if h.Mirror.Server.Conn.Used == nil { // whoever takes the game over is told of it
			h.Mirror.Server.Conn.Used = conn.NewUsed(nil)
		}
		return nil
	}
	o.Log, o.Stay = h.Log, stayOf
	o.Claimed = h.successor != nil && h.successor.claim != nil
	k, err := keeping.Open(h.title.Game, o)
	if err != nil {
		return err
	}
	h.keeper = k
	h.Mirror.Keeper, h.Mirror.Handover.Ceded = keeper{k, h}, k.Ceded
	h.Mirror.Server.Conn.Used, h.Mirror.Server.Conn.Wall = k.Used(), k.Wall()
	h.back = k.Memory() != nil && !h.Mirror.Revival.Anew
	return nil
}

// stayOf is which world belongs to what a mirror has remembered.
func stayOf(memory []byte) (uint64, error) {
	m, err := membership.ReadMemory(memory)
	if err != nil {
		return 0, fmt.Errorf("%w; put a copy of the folder in its place, or name another to join "+
			"the others without it", err)
	}
	return m.Stay, nil
}

// openVows opens the folder of a witness, if it has one, and has the witness use it.
func (o *Options) openVows() (*keeping.Keeper, error) {
	if o.Keep.Dir == "" {
		return nil, nil
	}
	opt := o.Keep
	opt.Log, opt.Stay = o.Log, stayOf
	k, err := keeping.Open(o.Mirror.Server.Title.Game, opt)
	if err == nil {
		o.Mirror.Keeper = keeper{Keeper: k}
	}
	return k, err
}

// closeKept writes the end of what is kept.
func (h *host) closeKept() error {
	if h.keeper == nil {
		return nil
	}
	var w *world.World
	if m := h.mirror.Load(); m != nil && m.Timeline() != nil && m.Kept() {
		w = m.Timeline().Settled()
	}
	return h.keeper.Close(w)
}

// measureKept adds what is safe of the game.
func (h *host) measureKept(m *serve.Metrics, x *mirror.Mirror) {
	if h.keeper == nil {
		return
	}
	m.Keeper(h.keeper)
	m.Gauge("keep_safe_tick", "The last tick that every mirror that keeps the game has on its "+
		"disk, of the level's world.", float64(max(x.Safe(), x.Base())-x.Base()))
}
