package seamless

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
)

// Memory is a Backing for simulations and for tests, in the simplest way that keeps to the rules:
// what it keeps ends with the program, and it is never away or in doubt.
func Memory() Backing { return newKept() }

// kept is what Memory gives.
type kept struct {
	mu       sync.Mutex
	revision uint64
	entries  map[string]Entry
	journals map[string][]Record
	values   map[string][]byte
	unfenced bool // journals take whatever anyone appends
}

func newKept() *kept {
	return &kept{entries: map[string]Entry{}, journals: map[string][]Record{},
		values: map[string][]byte{}}
}

func (k *kept) Map() Map         { return keptMap{k} }
func (k *kept) Journal() Journal { return keptJournal{k} }
func (k *kept) Store() Store     { return keptStore{k} }

type (
	keptMap     struct{ *kept }
	keptJournal struct{ *kept }
	keptStore   struct{ *kept }
)

func (k keptMap) Get(_ context.Context, key string) (Entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.entries[key]
	if !ok {
		return e, ErrNone
	}
	return e, nil
}

func (k keptMap) Set(_ context.Context, key string, v []byte, expect uint64) (uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries[key].Revision != expect {
		return 0, ErrStale
	}
	k.revision++
	k.entries[key] = Entry{key, bytes.Clone(v), k.revision}
	return k.revision, nil
}

func (k keptMap) Delete(_ context.Context, key string, expect uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries[key].Revision != expect {
		return ErrStale
	}
	delete(k.entries, key)
	return nil
}

func (k keptMap) List(_ context.Context, prefix string) (list []Entry, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, e := range k.entries {
		if strings.HasPrefix(key, prefix) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return list, nil
}

func (k keptJournal) Append(_ context.Context, batch []Append) []Appended {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]Appended, len(batch))
	for i, a := range batch {
		list, last := k.journals[a.Zone], uint64(0)
		if len(list) > 0 {
			last = list[len(list)-1].Sequence
		}
		if last != a.Expect && !k.unfenced {
			out[i].Err = ErrStale
			continue
		}
		k.revision++
		k.journals[a.Zone] = append(list, Record{k.revision, bytes.Clone(a.Data)})
		out[i].Sequence = k.revision
	}
	return out
}

func (k keptJournal) Last(_ context.Context, z string) (Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.journals[z]
	if len(list) == 0 {
		return Record{}, ErrNone
	}
	return list[len(list)-1], nil
}

func (k keptJournal) Read(_ context.Context, z string, after uint64, size int) (list []Record,
	err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.journals[z] {
		if r.Sequence > after && (len(list) == 0 || size > 0) {
			list = append(list, r)
			size -= len(r.Data)
		}
	}
	return list, nil
}

func (k keptJournal) Trim(_ context.Context, z string, before uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.journals[z]
	n := 0
	for n < len(list)-1 && list[n].Sequence < before {
		n++
	}
	k.journals[z] = slices.Clone(list[n:])
	return nil
}

func (k keptStore) Put(_ context.Context, key string, v []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values[key] = bytes.Clone(v)
	return nil
}

func (k keptStore) Get(_ context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.values[key]
	if !ok {
		return nil, ErrNone
	}
	return bytes.Clone(v), nil
}

func (k keptStore) Delete(_ context.Context, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.values, key)
	return nil
}

func (k keptStore) Keys(_ context.Context, prefix string) (list []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.values {
		if strings.HasPrefix(key, prefix) {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list, nil
}
