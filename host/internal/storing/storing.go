//go:build !js

// Package storing has a store do what the desk of a world finds: ticks hand over and never wait,
// and one goroutine speaks to the store.
package storing

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Options say how a world is kept in a store.
type Options struct {
	// Store is where rows are. Default: memory, which ends with the program.
	Store kept.Store
	// Owner is who writes, for people to read.
	Owner string
	// Led says that there are several of whom one leads, by SetEpoch.
	Led bool
	// Durable says up to which tick the world is safe. Default: each is at once.
	Durable func() world.Tick
	// Hurry asks that the world be made safe soon, as somebody waits for it.
	Hurry func()
	// Answered is called when there is something to tell the world, for who does not want to wait
	// for the next tick to call Serve. It is called by another goroutine, and must not wait.
	Answered func()
	// Log is told what is at risk.
	Log *slog.Logger
}

// A Clerk stands at the desk of a world. Its methods belong to the goroutine that drives the
// server, except where they say otherwise. Nil is that of a game of which nothing is kept.
type Clerk struct {
	opt   Options
	seats []server.SavedSeat
	asked world.Tick        // up to which the world was asked to be made safe
	names map[uint64]string // accounts by client, so that none is made twice

	mu   sync.Mutex // of the desk
	desk *kept.Desk

	wake, ended chan struct{}
	stop        context.CancelFunc
	state       state
}

// state is what is told about a store, under the desk's lock.
type state struct {
	away          bool
	longest, last time.Duration // of requests, from the job to its answer
}

// New opens a store for a game, or gives nil if nothing is kept of it. An error is that the store
// cannot be used, or that the game's declarations are wrong.
func New(ctx context.Context, g *world.Game, o Options) (*Clerk, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	desk, err := kept.NewDesk(g, kept.Options{Owner: o.Owner, World: draw(), Led: o.Led})
	if desk == nil || err != nil {
		return nil, err
	}
	if o.Store == nil {
		o.Store = new(kept.Memory)
		o.Log.Warn("what outlives a match is in memory alone, and is lost when the program ends: " +
			"name a store")
	}
	if err := desk.Open(ctx, o.Store); err != nil {
		return nil, fmt.Errorf("the store cannot be used: %w", err)
	}
	c := &Clerk{opt: o, desk: desk, names: map[uint64]string{}, wake: make(chan struct{}, 1),
		ended: make(chan struct{})}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(c.ended)
		c.run(ctx)
	}()
	return c, nil
}

// draw makes the number of a world.
func draw() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) | 1
}

// Begin is told that another world begins.
func (c *Clerk) Begin() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.desk.Begin()
}

// SetEpoch says whether this one leads, and by which decree.
func (c *Clerk) SetEpoch(leads bool, epoch uint64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.desk.SetEpoch(leads, epoch)
}

// Tick is told each tick that is settled.
func (c *Clerk) Tick(w *world.World) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.desk.Tick(w)
	wanted := c.desk.Wanted()
	c.mu.Unlock()
	if c.opt.Hurry != nil {
		if w.Tick() <= c.asked {
			c.asked = 0 // it is another world
		}
		if wanted > c.asked && wanted > c.opt.Durable() {
			c.asked = wanted
			c.opt.Hurry()
		}
	}
	c.nudge()
}

// Safe is told that Options.Durable gives a later tick.
func (c *Clerk) Safe() {
	if c != nil {
		c.nudge()
	}
}

// nudge wakes the goroutine that speaks to the store.
func (c *Clerk) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Serve is called after each tick of a server: its world learns who sits there, and what the store
// has answered.
func (c *Clerk) Serve(s *server.Server) {
	if c == nil || s == nil || s.World() == nil {
		return
	}
	c.seats = s.AppendSeats(c.seats[:0])
	c.mu.Lock()
	c.desk.Meet(s.World(), func(yield func(world.Player, string) bool) {
		for i := range c.seats {
			if x := &c.seats[i]; x.Inside && !yield(x.Player, c.account(x)) {
				return
			}
		}
	})
	var err error
	if c.desk.Answers() {
		err = s.Tell(c.desk.Tell) // it is told again if it does not come in
	}
	news := c.desk.News()
	c.mu.Unlock()
	if err != nil {
		c.opt.Log.Debug("the world could not be told what the store says", "error", err)
	}
	for _, n := range news {
		c.opt.Log.Warn(n.Text, "class", n.Key.Class, n.Key.Scope.String(), n.Key.Of)
	}
}

// account is whose seat it is: what the issuer of the token has said, or the number in it.
func (c *Clerk) account(s *server.SavedSeat) string {
	if name, ok := c.names[s.Client]; ok {
		return name
	}
	if len(c.names) > 1<<16 {
		clear(c.names)
	}
	name := Account(s.Client, s.UserData)
	c.names[s.Client] = name
	return name
}

// Account is the account of a token: its user data, if that is a line of text, or its number.
func Account(client uint64, data []byte) string {
	name := string(data)
	if len(name) == 0 || len(name) > 100 || !utf8.ValidString(name) {
		return "#" + strconv.FormatUint(client, 16)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return "#" + strconv.FormatUint(client, 16)
		}
	}
	return "=" + name
}

// Numbers are for metrics.
type Numbers struct {
	kept.Stats
	Away          bool
	Last, Longest time.Duration // of requests, in the store
}

// Numbers says how the store does. Any goroutine may ask.
func (c *Clerk) Numbers() Numbers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Numbers{c.desk.Stats(), c.state.away, c.state.last, c.state.longest}
}

// closeTime is how long Close waits for the store.
const closeTime = 10 * time.Second

// Close has what was seen last be written, and ends. The server has ended before. The error is that
// not all of it is.
func (c *Clerk) Close(write bool) error {
	if c == nil {
		return nil
	}
	defer c.stop()
	if !write {
		return nil
	}
	return c.Settle(time.Now().Add(closeTime))
}

// Settle has what was seen last be written, between two ticks. The error is that not all of it is
// by then.
func (c *Clerk) Settle(until time.Time) error {
	if c == nil {
		return nil
	}
	deadline := time.After(time.Until(until))
	for {
		c.mu.Lock()
		left := c.desk.Flush()
		fenced := c.desk.Stats().Fenced
		c.mu.Unlock()
		switch {
		case fenced:
			return errors.New("another process writes for this world: what was played here last " +
				"is not kept")
		case left == 0:
			return nil
		}
		c.nudge()
		select {
		case <-deadline:
			return fmt.Errorf("the store does not answer: %d rows of what outlives the match are "+
				"not written", left)
		case <-time.After(2 * time.Millisecond):
		}
	}
}
