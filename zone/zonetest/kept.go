package zonetest

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// kept is what the cluster's map, journals and store hold. Its methods are what happens in one
// instant; delays and faults are in backend.go.
type kept struct {
	now      func() time.Duration
	revision uint64
	entries  map[string]zone.Entry
	shot     []zone.Entry // of the entries, from a while ago
	shotAt   time.Duration

	sequence uint64
	journals map[zone.ID]*journal
	store    map[string][]byte

	unfenced bool // appends are taken whatever they expect
	appended func(id zone.ID, r zone.Record)
}

type journal struct {
	records  []timed
	trimmed  uint64 // records before this sequence are given up
	promised uint64 // for a journal that acknowledges too early
}

type timed struct {
	zone.Record
	at time.Duration
}

func newKept(now func() time.Duration) *kept {
	return &kept{now: now, entries: map[string]zone.Entry{}, journals: map[zone.ID]*journal{},
		store: map[string][]byte{}}
}

func (k *kept) journal(id zone.ID) *journal {
	j := k.journals[id]
	if j == nil {
		j = &journal{}
		k.journals[id] = j
	}
	return j
}

func (j *journal) last() (timed, bool) {
	if n := len(j.records); n > 0 {
		return j.records[n-1], true
	}
	return timed{}, false
}

// do carries out an operation. With old, what may be read as it was a while ago is.
func (k *kept) do(op *zone.Op, old bool) zone.Result {
	switch op.Kind {
	case zone.MapGet:
		e, ok := k.entries[op.Key]
		if !ok {
			return zone.Result{Outcome: zone.None}
		}
		return zone.Result{Revision: e.Revision, Data: bytes.Clone(e.Value)}
	case zone.MapSet, zone.MapDelete:
		return k.set(op)
	case zone.MapList:
		return zone.Result{Entries: k.list(op.Key, old)}
	case zone.Append:
		return k.append(op)
	case zone.Last:
		r, ok := k.journal(op.Zone).last()
		if !ok {
			return zone.Result{Outcome: zone.None}
		}
		return zone.Result{Sequence: r.Sequence, Data: bytes.Clone(r.Data)}
	case zone.Read:
		return k.read(op, old)
	case zone.Trim:
		j := k.journal(op.Zone)
		j.trimmed = max(j.trimmed, op.Expect)
		n := 0
		for n < len(j.records)-1 && j.records[n].Sequence < op.Expect {
			n++
		}
		j.records = slices.Delete(j.records, 0, n)
		return zone.Result{}
	case zone.Put:
		k.store[op.Key] = bytes.Clone(op.Data)
		return zone.Result{}
	case zone.Get:
		b, ok := k.store[op.Key]
		if !ok {
			return zone.Result{Outcome: zone.None}
		}
		return zone.Result{Data: bytes.Clone(b)}
	case zone.Delete:
		delete(k.store, op.Key)
		return zone.Result{}
	case zone.Keys:
		return zone.Result{Keys: k.oldKeys(op.Key, old)}
	}
	panic("zonetest: no such operation")
}

func (k *kept) set(op *zone.Op) zone.Result {
	if e := k.entries[op.Key]; e.Revision != op.Expect {
		return zone.Result{Outcome: zone.Stale}
	}
	k.revision++
	if op.Kind == zone.MapDelete {
		delete(k.entries, op.Key)
		return zone.Result{}
	}
	k.entries[op.Key] = zone.Entry{Key: op.Key, Value: bytes.Clone(op.Data), Revision: k.revision}
	return zone.Result{Revision: k.revision}
}

func (k *kept) list(prefix string, old bool) (list []zone.Entry) {
	if k.shot == nil || k.now()-k.shotAt > 400*time.Millisecond || !old {
		k.shot, k.shotAt = k.shot[:0:0], k.now()
		for _, e := range k.entries {
			k.shot = append(k.shot, e)
		}
		sort.Slice(k.shot, func(i, j int) bool { return k.shot[i].Key < k.shot[j].Key })
	}
	for _, e := range k.shot {
		if strings.HasPrefix(e.Key, prefix) {
			list = append(list, zone.Entry{Key: e.Key, Value: bytes.Clone(e.Value),
				Revision: e.Revision})
		}
	}
	return list
}

func (k *kept) append(op *zone.Op) zone.Result {
	j := k.journal(op.Zone)
	if last, _ := j.last(); last.Sequence != op.Expect && !k.unfenced {
		return zone.Result{Outcome: zone.Stale}
	}
	k.sequence++
	k.write(op, k.sequence)
	return zone.Result{Sequence: k.sequence}
}

func (k *kept) write(op *zone.Op, seq uint64) {
	j := k.journal(op.Zone)
	r := zone.Record{Sequence: seq, Data: bytes.Clone(op.Data)}
	j.records = append(j.records, timed{r, k.now()})
	j.promised = seq
	if k.appended != nil {
		k.appended(op.Zone, r)
	}
}

func (k *kept) read(op *zone.Op, old bool) zone.Result {
	j := k.journal(op.Zone)
	if len(j.records) > 0 && op.Expect+1 < j.trimmed && j.records[0].Sequence > op.Expect {
		return zone.Result{Outcome: zone.None}
	}
	var r zone.Result
	size := 0
	for _, rec := range j.records {
		if rec.Sequence <= op.Expect || old && k.now()-rec.at < 300*time.Millisecond {
			continue
		}
		if size > 0 && size+len(rec.Data) > op.Size {
			break
		}
		size += len(rec.Data)
		r.Records = append(r.Records, zone.Record{Sequence: rec.Sequence,
			Data: bytes.Clone(rec.Data)})
	}
	return r
}

func (k *kept) keys(prefix string) (list []string) {
	for key := range k.store {
		if strings.HasPrefix(key, prefix) {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list
}

// oldKeys gives the keys that there were before the newest one, with old.
func (k *kept) oldKeys(prefix string, old bool) []string {
	list := k.keys(prefix)
	if old && len(list) > 1 {
		list = list[:len(list)-1]
	}
	return list
}

// newest gives the newest snapshot of a zone.
func (k *kept) newest(id zone.ID) []byte {
	probe, _ := zone.Found(id, 0, NewTokens(id, &Rules{Neighbours: none}))
	list := k.keys(probe[:strings.LastIndex(probe[:strings.LastIndex(probe, ".")], ".")+1])
	if len(list) == 0 {
		return nil
	}
	return k.store[list[len(list)-1]]
}

func none(zone.ID) []zone.ID { return nil }
