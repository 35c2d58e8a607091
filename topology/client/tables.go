package client

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A Tables keeps the tables that servers have learned, by their hashes, so that they need not be
// sent again. What it gives is checked.
type Tables interface {
	// Load gives tables that were kept before, or nil.
	Load(hash [32]byte) []byte
	// Keep is given tables that a server has sent.
	Keep(hash [32]byte, data []byte)
}

// Bounds of what a server may send: many times what a rich game's tables take, and for as many
// servers as a player goes between.
const (
	mostTables = 64 << 10
	mostLearnt = 4
)

// A learnt is what one server has learned, as far as it is here.
type learnt struct {
	way    *ways.Way
	wanted [replica.TableSets][32]byte // what was asked for, by number
	models [replica.TableSets]*codec.Model
}

// learntAt finds what the server of a way has learned.
func (c *Client) learntAt(w *ways.Way) *learnt {
	for i := range c.learnt {
		if c.learnt[i].way == w {
			return &c.learnt[i]
		}
	}
	if len(c.learnt) == mostLearnt {
		c.learnt = append(c.learnt[:0], c.learnt[1:]...)
	}
	c.learnt = append(c.learnt, learnt{way: w})
	return &c.learnt[len(c.learnt)-1]
}

// offered answers a server that has learned tables.
func (c *Client) offered(w *ways.Way, m *wire.Message) {
	if m.Number == 0 || m.Number >= replica.TableSets {
		c.stats.Bad++
		return
	}
	hash, answer := m.Data, wire.Send
	switch {
	case c.o.FrozenTables || m.Size > mostTables || !c.protocol.Learns():
		answer = wire.No
	case c.o.Tables != nil:
		if data := c.o.Tables.Load(hash); c.learn(w, m.Number, hash, data) {
			return
		}
	}
	if answer == wire.Send {
		c.learntAt(w).wanted[m.Number] = hash
	}
	c.ways.Tell(w, &wire.Message{Kind: wire.Answers, Number: m.Number, Data: hash, Answer: answer})
}

// taught takes tables that a server has sent.
func (c *Client) taught(w *ways.Way, data []byte) {
	if len(data) > mostTables {
		c.stats.Bad++
		return
	}
	l := c.learntAt(w)
	for number, hash := range l.wanted {
		if number > 0 && hash != ([32]byte{}) && c.learn(w, byte(number), hash, data) {
			l.wanted[number] = [32]byte{}
			if c.o.Tables != nil {
				c.o.Tables.Keep(hash, data)
			}
			return
		}
	}
	c.stats.Bad++
}

// learn has packets that name a number read by tables, if they are those of the hash, and says so
// to the server.
func (c *Client) learn(w *ways.Way, number byte, hash [32]byte, data []byte) bool {
	if len(data) == 0 || len(data) > mostTables {
		return false
	}
	m, err := c.protocol.LoadTables(data)
	if err != nil || m.Hash() != hash {
		return false
	}
	c.learntAt(w).models[number] = m
	if h := c.heardBy(w); h != nil {
		h.receiver.SetTables(number, m)
	}
	c.stats.Tables++
	c.ways.Tell(w, &wire.Message{Kind: wire.Answers, Number: number, Data: hash,
		Answer: wire.Holds})
	return true
}

// teach tells a new receiver what the server of its way has learned.
func (c *Client) teach(w *ways.Way, r *replica.Receiver) {
	for number, m := range c.learntAt(w).models {
		if m != nil {
			r.SetTables(uint8(number), m)
		}
	}
}
