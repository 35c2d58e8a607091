package cluster

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// Memory gives a cluster for one process, and for tests: what it keeps ends with it. It takes and
// refuses what the others do, and is never away or in doubt.
func Memory() *Cluster {
	return &Cluster{
		world:   &memoryMap{entries: map[string]seamless.Entry{}},
		journal: &memoryJournal{zones: map[string]*memoryZone{}},
		store:   &memoryStore{values: map[string][]byte{}},
	}
}

// usable says why a key cannot be used, or that the context has ended.
func usable(ctx context.Context, key string) error {
	if ctx.Err() != nil {
		return unsure(ctx, false, nil)
	}
	_, err := token(key)
	return err
}

type memoryMap struct {
	mu       sync.Mutex
	entries  map[string]seamless.Entry
	revision uint64
}

func (m *memoryMap) Get(ctx context.Context, key string) (seamless.Entry, error) {
	if err := usable(ctx, key); err != nil {
		return seamless.Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if !ok {
		return e, fmt.Errorf("%w: %q", seamless.ErrNone, key)
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

func (m *memoryMap) Set(ctx context.Context, key string, value []byte, expect uint64,
) (uint64, error) {
	if err := usable(ctx, key); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.turn(key, expect); err != nil {
		return 0, err
	}
	m.entries[key] = seamless.Entry{Key: key, Value: bytes.Clone(value), Revision: m.revision}
	return m.revision, nil
}

func (m *memoryMap) Delete(ctx context.Context, key string, expect uint64) error {
	if err := usable(ctx, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.turn(key, expect); err != nil {
		return err
	}
	delete(m.entries, key)
	return nil
}

// turn says whether a change may be made, and numbers it.
func (m *memoryMap) turn(key string, expect uint64) error {
	if last := m.entries[key].Revision; last != expect {
		return fmt.Errorf("%w: %d is the last, and %d was expected", seamless.ErrStale, last,
			expect)
	}
	m.revision++
	return nil
}

func (m *memoryMap) List(ctx context.Context, prefix string) ([]seamless.Entry, error) {
	if err := usable(ctx, "any"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []seamless.Entry
	for key, e := range m.entries {
		if strings.HasPrefix(key, prefix) {
			e.Value = bytes.Clone(e.Value)
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b seamless.Entry) int { return strings.Compare(a.Key, b.Key) })
	return list, nil
}

type memoryJournal struct {
	mu       sync.Mutex
	zones    map[string]*memoryZone
	sequence uint64 // over all zones, so that each leaves numbers out
}

// A memoryZone is a journal that is not empty.
type memoryZone struct {
	records []seamless.Record
	before  uint64 // the sequence before the first of them
}

func (z *memoryZone) last() seamless.Record {
	if z == nil {
		return seamless.Record{}
	}
	return z.records[len(z.records)-1]
}

func (j *memoryJournal) Append(ctx context.Context, batch []seamless.Append) []seamless.Appended {
	out := make([]seamless.Appended, len(batch))
	for i, a := range batch {
		if out[i].Err = usable(ctx, a.Zone); out[i].Err == nil {
			out[i].Sequence, out[i].Err = j.append(a)
		}
	}
	return out
}

func (j *memoryJournal) append(a seamless.Append) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	z := j.zones[a.Zone]
	if last := z.last(); last.Sequence != a.Expect {
		if r, ok := z.behind(a.Expect); ok && bytes.Equal(r.Data, a.Data) {
			return r.Sequence, nil // it was appended before
		}
		return 0, fmt.Errorf("%w: %d is the last, and %d was expected", seamless.ErrStale,
			last.Sequence, a.Expect)
	}
	if z == nil {
		z = &memoryZone{}
		j.zones[a.Zone] = z
	}
	j.sequence++
	z.records = append(z.records, seamless.Record{Sequence: j.sequence, Data: bytes.Clone(a.Data)})
	return j.sequence, nil
}

// behind gives the record right behind another.
func (z *memoryZone) behind(sequence uint64) (seamless.Record, bool) {
	if z == nil {
		return seamless.Record{}, false
	}
	if z.before == sequence {
		return z.records[0], true
	}
	i := slices.IndexFunc(z.records, func(r seamless.Record) bool { return r.Sequence == sequence })
	if i < 0 || i == len(z.records)-1 {
		return seamless.Record{}, false
	}
	return z.records[i+1], true
}

func (j *memoryJournal) Last(ctx context.Context, zone string) (seamless.Record, error) {
	if err := usable(ctx, zone); err != nil {
		return seamless.Record{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.zones[zone].last()
	if r.Sequence == 0 {
		return r, fmt.Errorf("%w: zone %q", seamless.ErrNone, zone)
	}
	r.Data = bytes.Clone(r.Data)
	return r, nil
}

func (j *memoryJournal) Read(ctx context.Context, zone string, after uint64, size int,
) ([]seamless.Record, error) {
	if err := usable(ctx, zone); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	z := j.zones[zone]
	if z == nil {
		return nil, nil
	}
	if after < z.before {
		return nil, fmt.Errorf("%w: zone %q begins behind %d", seamless.ErrNone, zone, z.before)
	}
	var records []seamless.Record
	for _, r := range z.records {
		if r.Sequence > after {
			r.Data = bytes.Clone(r.Data)
			records = append(records, r)
			if size -= len(r.Data); size <= 0 {
				break
			}
		}
	}
	return records, nil
}

func (j *memoryJournal) Trim(ctx context.Context, zone string, before uint64) error {
	if err := usable(ctx, zone); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	z := j.zones[zone]
	for z != nil && len(z.records) > 1 && z.records[0].Sequence < before {
		z.before = z.records[0].Sequence
		z.records = z.records[1:]
	}
	return nil
}

type memoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (s *memoryStore) Put(ctx context.Context, key string, value []byte) error {
	if err := usable(ctx, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = bytes.Clone(value)
	return nil
}

func (s *memoryStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := usable(ctx, key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, fmt.Errorf("%w: %q", seamless.ErrNone, key)
	}
	return bytes.Clone(value), nil
}

func (s *memoryStore) Delete(ctx context.Context, key string) error {
	if err := usable(ctx, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *memoryStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := usable(ctx, "any"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.values {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
