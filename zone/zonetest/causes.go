package zonetest

import (
	"slices"

	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// causes has an audit read records by cause, where buddies hold some of them before the journal has
// them: a record is read when all that it took has been sent by records that were read. What took
// something that nobody has sent comes last, and the audit says so.
type causes struct {
	audit *audit.Audit
	tapes []tape
	sent  map[[2]uint32]uint64
}

// tape holds records of a zone that wait for those that caused them.
type tape struct {
	zone    uint32
	records []zone.Record
	heads   []audit.Record
}

func (c *causes) record(id zone.ID, r zone.Record) {
	i := slices.IndexFunc(c.tapes, func(t tape) bool { return t.zone == uint32(id) })
	if i < 0 {
		i = len(c.tapes)
		c.tapes = append(c.tapes, tape{zone: uint32(id)})
	}
	head, err := audit.ReadRecord(uint32(id), r.Data)
	if err != nil {
		head = audit.Record{} // the audit says what is wrong with it
	}
	t := &c.tapes[i]
	t.records, t.heads = append(t.records, r), append(t.heads, head)
	c.follow()
}

// follow reads what can be read.
func (c *causes) follow() {
	for went := true; went; {
		went = false
		for i := range c.tapes {
			t := &c.tapes[i]
			for len(t.heads) > 0 && c.ready(t) {
				c.take(t)
				went = true
			}
		}
	}
}

func (c *causes) ready(t *tape) bool {
	for i := range t.heads[0].Frames {
		for _, x := range t.heads[0].Frames[i].Taken {
			if x.Number > c.sent[[2]uint32{x.From, t.zone}] {
				return false
			}
		}
	}
	return true
}

func (c *causes) take(t *tape) {
	for i := range t.heads[0].Frames {
		for _, x := range t.heads[0].Frames[i].Out {
			way := [2]uint32{t.zone, x.To}
			c.sent[way] = max(c.sent[way], x.Number)
		}
	}
	c.audit.Record(t.zone, t.records[0].Sequence, t.records[0].Data)
	t.records, t.heads = t.records[1:], t.heads[1:]
}

// end reads what is left, causes or not.
func (c *causes) end() {
	for i := range c.tapes {
		for t := &c.tapes[i]; len(t.heads) > 0; c.follow() {
			c.take(t)
		}
	}
}
