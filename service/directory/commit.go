package directory

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// A batch is what is written together. What it adds is counted before it is there, so that many who
// come together are not more than those who come one by one.
type batch struct {
	remove map[Key]bool
	put    map[Key]Record
	udp    map[string]Key
	added  map[Key]netip.Addr // places that are new
	good   []*write
}

// commit makes changes durable, and then has them count.
func (b *Book) commit(ctx context.Context, list []*write) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	t := &batch{remove: map[Key]bool{}, put: map[Key]Record{}, udp: map[string]Key{},
		added: map[Key]netip.Addr{}}
	b.mu.Lock()
	for _, w := range list {
		if w.remove != nil {
			t.take(*w.remove)
		} else if err := b.fits(w.put, w.source, t); err != nil {
			w.done <- err
			continue
		} else {
			b.stage(w, t)
		}
		t.good = append(t.good, w)
	}
	b.mu.Unlock()
	if len(t.good) == 0 {
		return
	}
	err := b.opt.Keeper.Change(ctx, slices.Collect(maps.Keys(t.remove)),
		slices.Collect(maps.Values(t.put)))
	if err != nil {
		b.counts.Failed.Add(1)
	} else {
		b.count(t.good, t.remove, t.put)
	}
	for _, w := range t.good {
		w.done <- err
	}
}

// take takes a place out.
func (t *batch) take(k Key) {
	delete(t.put, k)
	delete(t.added, k)
	t.remove[k] = true
}

// stage adds a place. The book is held.
func (b *Book) stage(w *write, t *batch) {
	k := Key{w.put.ID, w.put.Place}
	if at := w.put.Announcement.Addresses.UDP; at != "" {
		// An address is of whoever proved it last, such as a server that was started anew.
		for _, old := range []Key{b.byUDP[at], t.udp[at]} {
			if old.ID != "" && old != k {
				t.take(old)
			}
		}
		t.udp[at] = k
	}
	delete(t.remove, k)
	t.put[k] = *w.put
	if b.find(k.ID, k.Place) == nil {
		t.added[k] = w.source
	}
}

// fits says why a registration cannot be, if it cannot. The book is held.
func (b *Book) fits(r *Record, source netip.Addr, t *batch) error {
	k := Key{r.ID, r.Place}
	seq, known := int64(0), false
	if old := b.find(r.ID, r.Place); old != nil {
		seq, known = old.seq, true
	}
	if old, ok := t.put[k]; ok {
		seq, known = old.Announcement.Seq, true
	}
	switch {
	case known && r.Announcement.Seq <= seq:
		return ErrStale
	case known:
		return b.agrees(r, t)
	}
	all, own, near := t.owned(source)
	switch {
	case b.places+all >= b.opt.Most:
		return ErrFull
	case source.IsValid() && (b.from[source]+own >= b.opt.MostOfEach ||
		b.nets[wide(source)]+near >= networkShare*b.opt.MostOfEach):
		return ErrMany
	}
	return b.agrees(r, t)
}

// networkShare is how many times as much as an address a network may have: 256 addresses of IPv4,
// or 65,536 networks of IPv6 such as one customer is given.
const networkShare = 4

func wide(a netip.Addr) netip.Prefix {
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, _ := a.Prefix(bits) // it has as many
	return p
}

// owned is how many places a batch adds: of all, of a source, and of its network.
func (t *batch) owned(source netip.Addr) (all, own, near int) {
	for _, s := range t.added {
		if s.IsValid() && s == source {
			own++
		}
		if s.IsValid() && source.IsValid() && wide(s) == wide(source) {
			near++
		}
	}
	return len(t.added), own, near
}

// owns counts a place of a source, or one less. The book is held.
func (b *Book) owns(source netip.Addr, by int) {
	if source.IsValid() {
		add(b.from, source, by)
		add(b.nets, wide(source), by)
	}
}

// agrees says whether a place is one of the group that its key has. The book is held.
func (b *Book) agrees(r *Record, t *batch) error {
	others := map[string]*Announcement{}
	if e := b.entries[r.ID]; e != nil {
		for name, p := range e.places {
			others[name] = &p.record.Announcement
		}
	}
	for k, x := range t.put {
		if k.ID == r.ID {
			others[k.Place] = &x.Announcement
		}
	}
	delete(others, r.Place)
	if len(others) >= MaxPlaces {
		return fmt.Errorf("a group has at most %d places", MaxPlaces)
	}
	for name, o := range others {
		a := &r.Announcement
		if !t.remove[Key{r.ID, name}] && (a.Game != o.Game || a.Version != o.Version ||
			a.Name != o.Name || a.Mode != o.Mode) {
			return ErrOtherGame
		}
	}
	return nil
}
