package directory

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// This file is what makes changes durable before they are acknowledged. All go through one
// goroutine, which writes those that wait in one transaction: so a flood of them costs a few, and
// what is in memory has the order of what is in the database.

// A write is a change that somebody waits for: a record that is put, or one that is removed.
type write struct {
	put    *Record
	key    ed25519.PublicKey
	source netip.Addr
	remove *Key
	done   chan error
}

// ErrBusy says that more is waiting to be written than may wait.
var ErrBusy = errors.New("the directory cannot write as fast as it is asked to: try again")

const (
	mostAtOnce = 256
	// writeTime is how long a transaction may take. Whoever waits for it tries again.
	writeTime = 2 * time.Second
	// lookEvery is how often the book looks who is silent, and publishes what has changed.
	lookEvery = 100 * time.Millisecond
)

// submit has a change made, and waits until it is durable.
func (b *Book) submit(ctx context.Context, w *write) error {
	w.done = make(chan error, 1)
	select {
	case b.writes <- w:
	case <-b.ended:
		return ErrBusy
	default:
		return ErrBusy
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err() // it may still be done
	case <-b.ended:
		return ErrBusy
	}
}

// Run writes, publishes and takes out the silent, until the context ends. What was acknowledged is
// durable whether or not it ends in good order. A database that is away holds up nothing but what
// waits to be written.
func (b *Book) Run(ctx context.Context) {
	var writing sync.WaitGroup
	writing.Go(func() { b.write(ctx) })
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
		case <-t.C:
			b.publish()
			b.tell(n)
			if n%turns == 0 {
				b.Tick()
			}
		}
	}
	b.hub.close()
	writing.Wait()
	close(b.ended)
}

// tell tells listeners of what has changed. Nothing is published meanwhile, so that the listing is
// what they have been told of.
func (b *Book) tell(n int) {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	b.hub.tell(n, b.listing.Load())
}

// write makes changes durable, as they come.
func (b *Book) write(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			b.forget(context.WithoutCancel(ctx))
			return
		case w := <-b.writes:
			b.commit(ctx, b.waiting(w))
		case <-t.C:
			b.forget(ctx)
		}
	}
}

// waiting takes what else waits.
func (b *Book) waiting(first *write) []*write {
	list := []*write{first}
	for len(list) < mostAtOnce {
		select {
		case w := <-b.writes:
			list = append(list, w)
		default:
			return list
		}
	}
	return list
}

// count has durable changes count.
func (b *Book) count(good []*write, remove map[Key]bool, put map[Key]Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range remove {
		b.drop(k)
	}
	for _, w := range good {
		if w.put == nil {
			continue
		}
		k := Key{w.put.ID, w.put.Place}
		if r, ok := put[k]; ok && r.Lease == w.put.Lease {
			b.put(r, w.key, w.source)
		} else {
			b.counts.Replaced.Add(1)
		}
	}
}

// forget removes those from the database that are gone. What cannot be removed now is later.
func (b *Book) forget(ctx context.Context) {
	b.mu.Lock()
	var list []Key
	for k := range b.gone {
		if list = append(list, k); len(list) == mostAtOnce {
			break
		}
	}
	b.mu.Unlock()
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if b.opt.Keeper.Change(ctx, list, nil) != nil {
		b.counts.Failed.Add(1)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range list {
		delete(b.gone, k)
	}
}
