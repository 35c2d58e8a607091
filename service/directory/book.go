package directory

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// BookOptions are what a book is made from. Keeper has no default.
type BookOptions struct {
	Keeper Keeper
	// Now is the time since some moment, which never goes back. Default: the machine's.
	Now func() time.Duration
	// Wall is Unix time in seconds, for people. Default: the machine's.
	Wall func() int64
	// Most is how many places may be registered. Default: 50,000. MostOfEach is how many one
	// address may have, and four times that a network of many. Default: 256.
	Most, MostOfEach int
	// Issues says whether this directory issues tokens by a key with a fingerprint. It may be nil.
	Issues func(fingerprint string) bool
}

// A Book holds all that is listed. Its methods may be called by any goroutine. Run has to run.
type Book struct {
	opt    BookOptions
	writes chan *write
	ended  chan struct{}

	mu      sync.Mutex
	entries map[string]*entry
	byUDP   map[string]Key
	from    map[netip.Addr]int // places by who registered them
	nets    map[netip.Prefix]int
	places  int
	ticked  time.Duration
	gone    map[Key]bool // expired, and still in the database
	changed map[string]bool
	shown   map[string]*listed // as was published last

	publishing sync.Mutex
	tally      tally
	listing    atomic.Pointer[listing]
	hub        hub
	counts     Counts
}

// Counts are how often things were done.
type Counts struct {
	Registered, Alive, Goodbye, Expired, Replaced, Failed atomic.Uint64
}

// An entry is what has one key.
type entry struct{ places map[string]*place }

type place struct {
	record Record
	key    ed25519.PublicKey
	source netip.Addr
	seq    int64
	heard  time.Duration
}

// NewBook makes a book of what a keeper has. All of it is listed: those that are still there have
// as long as ever to say so.
func NewBook(ctx context.Context, o BookOptions) (*Book, error) {
	begun := time.Now()
	if o.Now == nil {
		o.Now = func() time.Duration { return time.Since(begun) }
	}
	if o.Wall == nil {
		o.Wall = func() int64 { return time.Now().Unix() }
	}
	if o.Most == 0 {
		o.Most = 50_000
	}
	if o.MostOfEach == 0 {
		o.MostOfEach = 256
	}
	if o.Issues == nil {
		o.Issues = func(string) bool { return false }
	}
	b := &Book{opt: o, writes: make(chan *write, 1024), ended: make(chan struct{}),
		entries: map[string]*entry{}, byUDP: map[string]Key{}, from: map[netip.Addr]int{},
		nets: map[netip.Prefix]int{},
		gone: map[Key]bool{}, changed: map[string]bool{}, shown: map[string]*listed{}}
	b.hub.init()
	records, err := o.Keeper.Load(ctx)
	if err != nil {
		return nil, err
	}
	b.ticked = o.Now()
	for _, r := range records {
		key, err := parseKey(r.Announcement.Key)
		if err != nil {
			return nil, fmt.Errorf("the record %s %s: %w: the database is damaged", r.ID,
				r.Place, err)
		}
		b.put(r, key, netip.Addr{})
	}
	b.publish()
	return b, nil
}

// Errors that callers can act on.
var (
	ErrUnknown = errors.New("there is no such entry: register it")
	ErrStale   = errors.New("the request is not newer than the last: give a higher seq")
	ErrLease   = errors.New("the entry was registered anew since: use that lease")
	ErrFull    = errors.New("the directory has as many entries as it may: try again later")
	ErrMany    = errors.New("too many entries are registered from this address: say goodbye for " +
		"some, or ask the operator for a higher limit")
	ErrOtherGame = errors.New("the places of a group have one game, version and name")
)

// Known says whether a place is registered, and refuses a seq that is not new: before anything is
// proved.
func (b *Book) known(id, name string, seq int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.find(id, name); p != nil && seq <= p.seq {
		return ErrStale
	}
	return nil
}

func (b *Book) find(id, name string) *place {
	if e := b.entries[id]; e != nil {
		return e.places[name]
	}
	return nil
}

// Register lists a place whose addresses were proved. It is durable when it returns.
func (b *Book) Register(ctx context.Context, a Announcement, key ed25519.PublicKey,
	source netip.Addr) (Registered, error) {
	id := fmt.Sprintf("%x", IDOf(key))
	r := Record{ID: id, Place: a.Place, Lease: rand.Text(), Since: b.opt.Wall(), Announcement: a}
	if err := b.submit(ctx, &write{put: &r, key: key, source: source}); err != nil {
		return Registered{}, err
	}
	b.counts.Registered.Add(1)
	return Registered{ID: id, Lease: r.Lease, Every: int(Every / time.Second),
		Addresses: a.Addresses}, nil
}

// put has a record be listed. The book is held, or not yet shared.
func (b *Book) put(r Record, key ed25519.PublicKey, source netip.Addr) {
	b.drop(Key{r.ID, r.Place})
	e := b.entries[r.ID]
	if e == nil {
		e = &entry{places: map[string]*place{}}
		b.entries[r.ID] = e
	}
	e.places[r.Place] = &place{record: r, key: key, source: source, seq: r.Announcement.Seq,
		heard: b.opt.Now()}
	b.places++
	b.owns(source, 1)
	if at := r.Announcement.Addresses.UDP; at != "" {
		b.byUDP[at] = Key{r.ID, r.Place}
	}
	delete(b.gone, Key{r.ID, r.Place})
	b.changed[r.ID] = true
}

// drop takes a record out. The book is held.
func (b *Book) drop(k Key) {
	e := b.entries[k.ID]
	if e == nil || e.places[k.Place] == nil {
		return
	}
	p := e.places[k.Place]
	if at := p.record.Announcement.Addresses.UDP; at != "" && b.byUDP[at] == k {
		delete(b.byUDP, at)
	}
	b.owns(p.source, -1)
	b.places--
	delete(e.places, k.Place)
	b.changed[k.ID] = true
	if len(e.places) == 0 {
		delete(b.entries, k.ID)
	}
}

// A request is a body that is signed.
type request struct {
	path      string
	body      []byte
	signature string
	source    netip.Addr
}

// proved finds the place that a request is about, if it is signed by its key and new. The book is
// held while it looks, but not while the signature is checked.
func (b *Book) proved(q request, id, name, lease string, seq int64) error {
	b.mu.Lock()
	p := b.find(id, name)
	b.mu.Unlock()
	if p == nil {
		return ErrUnknown
	}
	if err := verify(p.key, q.path, q.body, q.signature); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch p = b.find(id, name); {
	case p == nil:
		return ErrUnknown
	case p.record.Lease != lease:
		return ErrLease
	case seq <= p.seq:
		return ErrStale
	}
	p.seq = seq
	return nil
}

// alive notes that a place is there.
func (b *Book) alive(q request, id string, a Alive) error {
	if err := checkText("the level", a.Level, true, MaxText); err != nil {
		return err
	}
	if err := b.proved(q, id, a.Place, a.Lease, a.Seq); err != nil {
		return err
	}
	b.counts.Alive.Add(1)
	players, capacity := clamp(a.Players, a.Capacity)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.find(id, a.Place)
	if p == nil {
		return ErrUnknown
	}
	p.heard = b.opt.Now()
	if !p.source.IsValid() && q.source.IsValid() { // it was registered before a restart
		p.source = q.source
		b.owns(q.source, 1)
	}
	is := &p.record.Announcement
	if is.Players != players || is.Capacity != capacity || is.Level != a.Level {
		is.Players, is.Capacity, is.Level = players, capacity, a.Level
		b.changed[id] = true
	}
	return nil
}

// goodbye takes a place out. It is durable when it returns.
func (b *Book) goodbye(ctx context.Context, q request, id string, g Goodbye) error {
	if err := b.proved(q, id, g.Place, g.Lease, g.Seq); err != nil {
		return err
	}
	if err := b.submit(ctx, &write{remove: &Key{id, g.Place}}); err != nil {
		return err
	}
	b.counts.Goodbye.Add(1)
	return nil
}

// held is how long nobody may have looked before what was not heard meanwhile is no one's fault:
// the machine slept, or its clock jumped.
const held = 5 * time.Second

// Tick takes out those that are silent. Whoever runs the book calls it every second or so.
func (b *Book) Tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opt.Now()
	if gap := now - b.ticked; gap > held {
		for _, e := range b.entries {
			for _, p := range e.places {
				p.heard += gap
			}
		}
	}
	b.ticked = now
	for id, e := range b.entries {
		for name, p := range e.places {
			if now-p.heard >= Silent {
				b.gone[Key{id, name}] = true
				b.drop(Key{id, name})
				b.counts.Expired.Add(1)
			}
		}
	}
}

// Size is how many entries and places there are.
func (b *Book) Size() (entries, places int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries), b.places
}

// entryOf is an entry as it is listed. The book is held.
func (b *Book) entryOf(id string, e *entry) Entry {
	out := Entry{ID: id}
	names := make([]string, 0, len(e.places))
	for name := range e.places {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	for i, name := range names {
		r := &e.places[name].record
		a := &r.Announcement
		if i == 0 {
			out.Game, out.Version, out.Mode, out.Name = a.Game, a.Version, a.Mode, a.Name
			out.Level, out.Region, out.Since = a.Level, a.Region, r.Since
		}
		out.Since = min(out.Since, r.Since)
		out.Tags = append(out.Tags, a.Tags...)
		out.Players += a.Players
		out.Capacity = max(out.Capacity, a.Capacity)
		out.Places = append(out.Places, Place{Name: a.Place, Region: a.Region, Players: a.Players,
			Addresses: a.Addresses, Door: a.Door, Page: a.Page && a.Addresses.WS != ""})
		out.Tokens = out.Tokens || slices.ContainsFunc(a.Keys, b.opt.Issues)
	}
	slices.Sort(out.Tags)
	out.Tags = slices.Compact(out.Tags)
	out.Players = min(out.Players, out.Capacity)
	return out
}
