//go:build !js

package keeping

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// This file is for a game that goes from one group of mirrors to another: no folder of the one may
// bring it back, and no folder of the other may before the game is its own.

// handover is what a keeper knows of that.
type handover struct {
	found   *keep.Handover // in the folder, when it was opened
	begun   bool           // Ceded was asked
	written atomic.Bool    // that the game was given away is durable
	stop    chan struct{}
	over    chan struct{}
}

// allowed says whether a folder's game may be gone on with.
func (k *Keeper) allowed(disk keep.Disk) (err error) {
	h, err := keep.HandedOver(disk)
	if err != nil {
		return err
	}
	switch k.handover.found = h; {
	case h == nil || !h.Ceded && k.opt.Claimed:
		return nil
	case h.Ceded:
		return fmt.Errorf("%w: a new group of mirrors took it over after tick %d, at %s, and "+
			"players reach it at %v: join that group, with another folder. If all of its mirrors "+
			"and their folders are lost, remove the file handover here and in the other folders "+
			"of this group; what was played since then is gone then", keep.ErrHandedOver, h.Tick,
			h.At.Format(time.RFC3339), h.Where)
	}
	return fmt.Errorf("%w: it was to come from the mirrors that are asked at %v, and this program "+
		"ended before it knew whether it was given the game after tick %d: start it with --upgrade "+
		"again, while one of them runs, to find out. If they have ended and their folders say that "+
		"this mirror has the game, remove the file handover here; if they play, remove this "+
		"folder", keep.ErrHandedOver, h.Where, h.Tick)
}

// Claimed is what the folder says of a game that may not be its group's; or nil.
func (k *Keeper) Claimed() *keep.Handover { return k.handover.found }

// Claim writes down that what is kept from now on is not known to be this group's game. It waits
// for the disk.
func (k *Keeper) Claim(h keep.Handover) error {
	h.Ceded, h.At = false, time.Now().UTC().Truncate(time.Second)
	return keep.HandOver(k.group.disk, &h)
}

// Inherit takes in which tokens have let someone in at mirrors whose game this one goes on with,
// and up to when tokens and tickets that expire count as used.
func (k *Keeper) Inherit(marks []token.Mark, tokens, tickets int64) {
	k.tokens.inherit(marks, tokens, tickets)
}

// Own writes down that it is. It waits for the disk.
func (k *Keeper) Own() error { return keep.Keeps(k.group.disk) }

// Ceded begins to write down that the game was given away after a tick, to a group that players
// reach at these addresses, and says whether that is durable; ask again. It does not wait.
func (k *Keeper) Ceded(t world.Tick, to []netip.AddrPort) bool {
	o := &k.handover
	if o.begun {
		return o.written.Load()
	}
	h := &keep.Handover{Ceded: true, Tick: t, At: time.Now().UTC().Truncate(time.Second)}
	for _, a := range to {
		h.Where = append(h.Where, a.String())
	}
	o.begun, o.stop, o.over = true, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(o.over)
		for said := false; ; {
			err := keep.HandOver(k.group.disk, h)
			if err == nil {
				o.written.Store(true)
				return
			}
			if !said {
				k.state.errors.Add(1)
				k.opt.Log.Error("the game is given to another group, and cannot be until the disk "+
					"takes that: make room, or end this program for good", "folder", k.opt.Dir,
					"error", err)
			}
			said = true
			select {
			case <-o.stop:
				return
			case <-time.After(again):
			}
		}
	}()
	return false
}

// close ends what Ceded began.
func (o *handover) close() {
	if !o.begun {
		return
	}
	close(o.stop)
	select {
	case <-o.over:
	case <-time.After(closeTime):
	}
	o.begun = false
}

// Discard removes a game that a folder claims and was not given.
func Discard(dir string) error {
	lock, err := Take(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	return keep.Discard(Disk(dir))
}
