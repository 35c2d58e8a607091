//go:build !js

package keeping

import (
	"errors"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a mirror keeps beside its world: what it must not forget of its group.

// A rememberer writes what a mirror must not forget. It is short and goes before whole worlds, as
// votes of the mirror wait for it; so it has a goroutine of its own. What waits while the disk is
// slow is the last alone, as each takes the place of the one before.
type rememberer struct {
	keeper *Keeper
	disk   keep.Disk
	wake   chan struct{}
	over   chan struct{}

	mu           sync.Mutex
	next         []byte // nil if there is nothing to write
	asked, known uint64
	failed       bool
}

// again is how long to wait before a disk that failed is tried again.
const again = time.Second

// start starts the goroutine.
func (r *rememberer) start() {
	wake := make(chan struct{}, 1)
	r.wake, r.over = wake, make(chan struct{})
	go func() {
		defer close(r.over)
		for range wake { // close forgets the field
			r.write()
		}
		r.write()
	}()
}

// write writes what there is.
func (r *rememberer) write() {
	r.mu.Lock()
	data, number := r.next, r.asked
	r.next = nil
	r.mu.Unlock()
	if data == nil {
		return
	}
	err := keep.Remember(r.disk, data)
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.failed
	if r.failed = err != nil; err == nil {
		r.known = max(r.known, number)
		if was {
			r.keeper.opt.Log.Info("what a mirror must not forget is written again", "folder",
				r.keeper.opt.Dir)
		}
		return
	}
	if r.next == nil {
		r.next = data
	}
	time.AfterFunc(again, r.nudge)
	if !was {
		r.keeper.state.errors.Add(1)
		r.keeper.opt.Log.Error("this mirror cannot vote: the disk does not take what it must "+
			"not forget. Play goes on, but mirrors may not be able to join or to be dropped",
			"folder", r.keeper.opt.Dir, "error", err)
	}
}

// nudge has the goroutine look.
func (r *rememberer) nudge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close has what waits be written, if the disk does so within a while.
func (r *rememberer) close() {
	r.mu.Lock()
	wake := r.wake
	r.wake = nil
	r.mu.Unlock()
	if wake == nil {
		return
	}
	close(wake)
	select {
	case <-r.over:
	case <-time.After(closeTime):
	}
}

// openGroup finds what a mirror has remembered, and the world that belongs to it.
func (k *Keeper) openGroup(disk keep.Disk) (err error) {
	k.group = &rememberer{keeper: k, disk: disk}
	if k.memory, err = keep.Remembered(disk); err != nil {
		return err
	}
	if k.memory == nil {
		k.kept, err = k.folder.Recover() // of one server, if there is anything
	} else {
		var stay uint64
		if stay, err = k.opt.Stay(k.memory); err != nil {
			return err
		}
		k.kept, err = k.folder.RecoverStay(stay)
	}
	if errors.Is(err, keep.ErrDamaged) {
		k.opt.Log.Error("the world that was kept cannot be used, others must have it", "folder",
			k.opt.Dir, "error", err)
		k.kept, err = nil, nil
	}
	if err == nil {
		k.group.start()
	}
	return err
}

// Memory is what the folder of a mirror had when it was opened, or nil.
func (k *Keeper) Memory() []byte { return k.memory }

// BeginStay is Begin for a mirror, which may begin with another world each time that it comes into
// a group, and with that of another level.
func (k *Keeper) BeginStay(s *keep.Snapshot) error {
	k.stay, k.base = s.Stay, s.Base
	return k.Begin(s.World, s.Level, s.Seats)
}

// Durable is the last tick of a stay that a crash cannot take, in those of the group, or 0.
func (k *Keeper) Durable(stay uint64) world.Tick {
	s := &k.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.safe.stay != stay {
		return 0
	}
	return s.safe.tick
}

// Remember begins to write what must not be forgotten, in place of what was written before.
// Remembered says up to which number the disk has it.
func (k *Keeper) Remember(memory []byte) uint64 {
	r := k.group
	r.mu.Lock()
	r.asked++
	n := r.asked
	r.next = memory
	r.mu.Unlock()
	r.nudge()
	return n
}

// Remembered is the number of what the disk has.
func (k *Keeper) Remembered() uint64 {
	r := k.group
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}
