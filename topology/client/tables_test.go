package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/server"
)

// drawer keeps tables in memory.
type drawer struct {
	kept  map[[32]byte][]byte
	spoil bool // what it gives is damaged
}

func (d *drawer) Load(h [32]byte) []byte {
	data := d.kept[h]
	if d.spoil && len(data) > 0 {
		data = append([]byte(nil), data...)
		data[len(data)/2] ^= 1
	}
	return data
}

func (d *drawer) Keep(h [32]byte, data []byte) {
	if d.kept == nil {
		d.kept = map[[32]byte][]byte{}
	}
	d.kept[h] = append([]byte(nil), data...)
}

// A server learns while it runs; clients get what it learned over a network that loses packets, and
// go on without a hitch. What was kept serves the server's next life, and the client's next visit,
// at once.
func TestTablesAreLearnedAndKept(t *testing.T) {
	simtest.Run(t, 4, func(n *netsim.Net) error {
		var kept [][]byte
		h := &house{net: n, end: n.Endpoint("server"), learn: &server.Learning{
			Inline: true, First: 3 * time.Second, Every: 20 * time.Second, Gain: 0.01,
			Memory: 1 << 20, Keep: func(data []byte) { kept = append([][]byte{data}, kept...) }}}
		if err := h.start(); err != nil {
			return err
		}
		defer func() { _ = h.server.Close() }()
		store := &drawer{}
		g := h.invite(netsim.WiFi, Options{Tables: store, ConnectTimeout: 2 * time.Second})
		held := func(times uint64) func() bool {
			return func() bool { return h.server.Stats().Tables.Held >= times }
		}
		if !n.RunUntil(40*time.Second, held(1)) {
			return fmt.Errorf("no tables arrived: %+v", h.server.Stats().Tables)
		}
		n.Run(30 * time.Second)
		st := h.server.Stats().Tables
		if st.Made == 0 || st.Sent != st.Held || len(kept) != int(st.Made) || len(store.kept) == 0 {
			return fmt.Errorf("%+v, %d kept by the server, %d by the client", st, len(kept),
				len(store.kept))
		}
		if s := g.Client().Stats(); s.Bad > 0 || h.server.Stats().Restarts > 0 {
			return fmt.Errorf("%d packets were of no use", s.Bad)
		}
		h.end.Restart(time.Second)
		n.Run(1100 * time.Millisecond)
		h.learn.Known, h.learn.First = kept, time.Hour
		if err := h.start(); err != nil {
			return err
		}
		if !n.RunUntil(60*time.Second, held(1)) {
			return fmt.Errorf("a client that kept the tables is sent none: %+v",
				h.server.Stats().Tables)
		}
		if st := h.server.Stats().Tables; st.Sent != 0 || st.Bytes != 0 {
			return fmt.Errorf("a client that kept the tables is sent them again: %+v", st)
		}
		n.Run(3 * time.Second)
		if s := g.Client().Stats(); s.Bad > 0 {
			return fmt.Errorf("%d packets were of no use", s.Bad)
		}
		return nil
	})
}

// A client that wants no tables is sent none, and one whose own are damaged is sent them anew.
func TestTablesRefusedAndDamaged(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		var kept [][]byte
		h := &house{net: n, end: n.Endpoint("server"), learn: &server.Learning{
			Inline: true, First: 2 * time.Second, Memory: 1 << 20,
			Keep: func(data []byte) { kept = append(kept, data) }}}
		if err := h.start(); err != nil {
			return err
		}
		defer func() { _ = h.server.Close() }()
		g := h.invite(netsim.Cable, Options{FrozenTables: true})
		if !n.RunUntil(40*time.Second,
			func() bool { return h.server.Stats().Tables.Refused > 0 }) {
			return fmt.Errorf("nothing was refused: %+v", h.server.Stats().Tables)
		}
		n.Run(5 * time.Second)
		if st := h.server.Stats().Tables; st.Sent+st.Held+st.Asked > 0 || st.Refused != 1 {
			return fmt.Errorf("%+v of a client that wants none", st)
		}
		if !g.Playing() || g.Client().Stats().Bad > 0 {
			return fmt.Errorf("a client that wants none cannot play: %q", g.view.Status)
		}
		g.Leave()
		n.Run(time.Second)
		store := &drawer{spoil: true}
		m, err := h.server.Protocol().LoadTables(kept[0])
		if err != nil {
			return err
		}
		store.Keep(m.Hash(), kept[0])
		h.invite(netsim.Cable, Options{Tables: store})
		if !n.RunUntil(40*time.Second, func() bool { return h.server.Stats().Tables.Held > 0 }) {
			return fmt.Errorf("nothing arrived: %+v", h.server.Stats().Tables)
		}
		if st := h.server.Stats().Tables; st.Sent != 1 {
			return fmt.Errorf("%+v of a client whose own are damaged", st)
		}
		return nil
	})
}

// The same simulation makes the same tables.
func TestLearningIsReproducible(t *testing.T) {
	var made [2]string
	for i := range made {
		simtest.Run(t, 1, func(n *netsim.Net) error {
			var kept []byte
			h := &house{net: n, end: n.Endpoint("server"), learn: &server.Learning{
				Inline: true, First: 4 * time.Second, Gain: 0.001, Memory: 1 << 20,
				Keep: func(data []byte) { kept = data }}}
			if err := h.start(); err != nil {
				return err
			}
			defer func() { _ = h.server.Close() }()
			h.invite(netsim.WiFi, Options{})
			if !n.RunUntil(40*time.Second, func() bool { return kept != nil }) {
				return fmt.Errorf("nothing was learned: %+v", h.server.Stats().Tables)
			}
			made[i] = string(kept)
			return nil
		})
	}
	if made[0] != made[1] {
		t.Error("two runs of one simulation learned different tables")
	}
}

// Tables of another game, or damaged ones, are left out and told of.
func TestTablesThatAreUnfit(t *testing.T) {
	simtest.Run(t, 1, func(n *netsim.Net) error {
		h := &house{net: n, end: n.Endpoint("server"),
			learn: &server.Learning{Known: [][]byte{nil, []byte("no tables"), make([]byte, 100)}}}
		if err := h.start(); err != nil {
			return err
		}
		defer func() { _ = h.server.Close() }()
		g := h.invite(netsim.Cable, Options{})
		if !n.RunUntil(20*time.Second, g.Playing) {
			return fmt.Errorf("never plays: %q", g.view.Status)
		}
		if st := h.server.Stats().Tables; st.Offered > 0 {
			return fmt.Errorf("unfit tables were offered: %+v", st)
		}
		return nil
	})
}
