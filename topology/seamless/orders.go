package seamless

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// orderPrefix is with what keys of orders in the map begin.
const orderPrefix = "order."

// An OrderKind is what is to be done.
type OrderKind string

// What can be ordered.
const (
	// Split cuts a zone in two, at Cut across Axis, or so that each part has half of what is there.
	Split OrderKind = "split"
	// Merge gives Zone the part of With, or of the zone on the other side of its cut.
	Merge OrderKind = "merge"
	// Shift moves the border that made a zone to Cut.
	Shift OrderKind = "shift"
	// Move has Server own a zone.
	Move OrderKind = "move"
	// Drain has Server give all its zones to others and take none any more, so that it can be
	// ended.
	Drain OrderKind = "drain"
	// Pause has all zones stand still from a tick on, and Resume has them go on from there.
	Pause  OrderKind = "pause"
	Resume OrderKind = "resume"
	// Balance has borders move by themselves as Balance says, or not any more if it is nil.
	Rebalance OrderKind = "balance"
)

// An Order is what somebody wants to be done with a world's zones and servers. It is carried out by
// the server that has the zone that is home.
type Order struct {
	Kind   OrderKind
	Zone   zone.ID       `json:",omitempty"`
	With   zone.ID       `json:",omitempty"`
	Server zone.ServerID `json:",omitempty"`
	Axis   int           `json:",omitempty"`
	Cut    *float64      `json:",omitempty"`
	// Balance is of Rebalance.
	Balance *Balance `json:",omitempty"`
	// By says who wants it.
	By string `json:",omitempty"`
}

// ordered is an order as the map has it, and what came of it.
type ordered struct {
	Order
	Over  bool   `json:",omitempty"`
	Said  string `json:",omitempty"`
	Error string `json:",omitempty"`
}

// Do has an order carried out by the servers of a world, and waits until it is. It says what was
// done. If nobody carries it out before the context ends, it is taken back.
func Do(ctx context.Context, m Map, o Order) (string, error) {
	if _, _, err := readHeader(ctx, m); err != nil {
		return "", err
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("seamless: %w", err)
	}
	key := orderPrefix + hex.EncodeToString(b[:])
	data, err := json.Marshal(&ordered{Order: o})
	if err != nil {
		return "", err
	}
	rev, err := m.Set(ctx, key, data, 0)
	if err != nil {
		return "", fmt.Errorf("seamless: %w", err)
	}
	for {
		e, err := m.Get(ctx, key)
		var x ordered
		if err == nil && e.Revision != rev && json.Unmarshal(e.Value, &x) == nil && x.Over {
			_ = m.Delete(ctx, key, e.Revision) // or the servers do, in a while
			if x.Error != "" {
				return "", errors.New(x.Error)
			}
			return x.Said, nil
		}
		if !pause(ctx, 50*time.Millisecond) {
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if m.Delete(stop, key, rev) == nil {
				return "", fmt.Errorf("seamless: nobody carried it out: %w: see whether a server "+
					"has the zone that is home", context.Cause(ctx))
			}
			return "", context.Cause(ctx)
		}
	}
}

// orders are what was ordered of a world, beside its plan.
type orders struct {
	// Seats say which server is to have a zone.
	Seats map[zone.ID]zone.ServerID `json:",omitempty"`
	// Drained are servers that are to have none.
	Drained []zone.ServerID `json:",omitempty"`
	// Paused is the tick after which zones stand still, 0 if they go on.
	Paused world.Tick `json:",omitempty"`
	// Balance is how borders move by themselves.
	Balance *Balance `json:",omitempty"`
	// Done are the orders that were carried out last, so that none is carried out twice.
	Done []string `json:",omitempty"`
}

// doneKept is how many of those are known.
const doneKept = 64

func (o *orders) done(key string) {
	id := strings.TrimPrefix(key, orderPrefix)
	if o.Done = append(o.Done, id); len(o.Done) > doneKept {
		o.Done = o.Done[len(o.Done)-doneKept:]
	}
}

func (o *orders) wasDone(key string) bool {
	id := strings.TrimPrefix(key, orderPrefix)
	for _, d := range o.Done {
		if d == id {
			return true
		}
	}
	return false
}
