//go:build !js

// Package keeping keeps a game on disk while it is served: one goroutine writes, and ticks hand
// over to it what they did and never wait.
package keeping

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// Options say how a game is kept.
type Options struct {
	// Dir is the folder.
	Dir string
	// Flush is when what was played is made durable.
	Flush Flush
	// Every is after how long a whole world is written at the latest. Default: 10 s.
	Every time.Duration
	// History is for how long chapters stay after they are needed, to go back to; below zero for
	// ever.
	History time.Duration
	// Log is told what is at risk, and when it is not any more.
	Log *slog.Logger
	// Stay is set for a mirror: it reads out of what the mirror remembered which world is its own.
	Stay func(memory []byte) (uint64, error)
	// Claimed has a folder be opened whose game is not known to be its group's; see Keeper.Claimed.
	Claimed bool

	disk keep.Disk // in place of Dir's own, for tests
}

// A Keeper keeps one game. Its methods belong to the goroutine that drives the server, except where
// they say otherwise; a goroutine of its own writes.
//
// What goes from one to the other is items: free holds those that can be filled, full those to be
// written. There are so many and no more, so a disk that is slow costs no memory. When there is no
// free one, ticks are missing in the journal; then a whole world is handed over as soon as there is
// room, and the journal goes on from there.
type Keeper struct {
	opt    Options
	game   *world.Game
	folder *keep.Folder
	lock   *os.File
	kept   *keep.Kept // until it is taken
	memory []byte     // of a mirror
	group  *rememberer
	stay   uint64
	base   world.Tick // of the world, in its group's ticks
	worlds uint64     // that were begun
	tokens *tokens

	handover handover

	free, full chan *item
	copies     chan *world.World // one, when no whole world is being written
	hurry      chan struct{}     // somebody waits for what was played to be durable
	done       chan struct{}
	started    bool

	level game.Level
	seats []keep.Seat // as they were handed over last, by player
	gap   bool        // ticks are missing since the last whole world
	fresh bool        // another world has begun, and was not handed over
	// succeeds says that the folder is another program's still; see Succeed.
	succeeds bool
	since    time.Time     // when the last whole world was handed over
	replay   time.Duration // what computing the ticks since then has taken

	writer writer
	state  state
}

// state is what both goroutines, and those who ask for metrics, know.
type state struct {
	played, durable atomic.Uint64 // ticks
	errors          atomic.Uint64
	chapters        atomic.Uint64
	bytes           atomic.Uint64
	missed          atomic.Uint64 // ticks that no journal has
	missedAt        atomic.Uint64 // the last of those for which there was no room
	chapterNanos    atomic.Int64  // how long the last chapter took to write
	broken          atomic.Bool   // the journal cannot go on without a whole world
	risk            atomic.Bool   // what is played is not being kept

	worlds atomic.Uint64 // that were begun

	mu   sync.Mutex
	safe safety
}

// safety is what is durable: up to which tick, in those of the group, of which stay, and of which
// of the worlds that were begun.
type safety struct {
	tick, base world.Tick
	stay       uint64
	world      uint64
}

// An item is a tick, or the beginning of a chapter, or both.
type item struct {
	frame  keep.Frame
	ticked bool // there is a frame
	in     *world.Inputs
	world  *world.World // for a chapter that begins after it, or nil
	fresh  bool         // which has nothing to do with the chapter before
	level  game.Level
	stay   uint64
	base   world.Tick
	number uint64      // which of the worlds that were begun
	at     time.Time   // when that was
	seats  []keep.Seat // all of them, for a chapter
}

// queued is how many ticks may wait for the disk.
const queued = 256

// Open takes a folder, and finds what is kept in it. Nothing is written but its identity, if it is
// a new one, and the key.
func Open(g *world.Game, o Options) (_ *Keeper, err error) {
	k := &Keeper{opt: o, game: g}
	if k.opt.Every <= 0 {
		k.opt.Every = 10 * time.Second
	}
	if k.opt.Log == nil {
		k.opt.Log = slog.New(slog.DiscardHandler)
	}
	disk := o.disk
	if disk == nil {
		d := folder{o.Dir}
		if _, err := keep.Look(d, g); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Dir, err)
		}
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("the folder to keep the game in: %w", err)
		}
		if k.lock, err = d.take(); err != nil {
			return nil, err
		}
		disk = d
	}
	defer func() {
		if err != nil {
			k.unlock()
		}
	}()
	if k.folder, err = keep.Open(disk, g, keep.Options{Build: recording.Build(),
		History: o.History}); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	if err = k.allowed(disk); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	if o.Stay != nil {
		err = k.openGroup(disk)
	} else {
		k.kept, err = k.folder.Recover()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	if k.tokens, err = k.newTokens(disk); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	k.tokens.start()
	k.report()
	return k, nil
}

// report says what was found.
func (k *Keeper) report() {
	if k.kept == nil {
		return
	}
	for _, p := range k.kept.Problems {
		k.opt.Log.Error("something that was kept cannot be used", "folder", k.opt.Dir, "error", p)
	}
	k.opt.Log.Info("going on with the game that was kept", "folder", k.opt.Dir,
		"tick", uint64(k.kept.World.Tick()), "level", k.kept.Level.Name,
		"seats", len(k.kept.Seats), "replayed", uint64(k.kept.World.Tick()-k.kept.From),
		"hashes", k.kept.Compared)
}

// Key is what opens and seals tickets, the same after each start: so who played before comes back.
func (k *Keeper) Key() (token.Key, error) {
	name := folder{k.opt.Dir}.at(keep.KeyName)
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return cli.ReadKey(name)
	}
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return key, err
	}
	return key, keep.Install(folder{k.opt.Dir}, keep.KeyName, []byte(key.Text()+"\n"))
}

// Kept is the game that was found, or nil.
func (k *Keeper) Kept() *keep.Kept { return k.kept }

// Begin is told each world that begins. The first is written at once, and an error is that it
// cannot be kept; later ones are handed over.
func (k *Keeper) Begin(w *world.World, l game.Level, seats []keep.Seat) error {
	k.level, k.kept = l, nil
	k.worlds++
	k.state.worlds.Store(k.worlds)
	k.state.played.Store(uint64(w.Tick()))
	if k.started {
		k.gap, k.fresh = true, true // the journal is that of another world
		k.state.missedAt.Store(0)
		k.handOver(w, nil, seats)
		return nil
	}
	k.keepSeats(seats)
	if k.succeeds {
		return nil
	}
	if err := k.folder.Begin(&keep.Snapshot{World: w, Level: l, Seats: seats,
		Stay: k.stay, Base: k.base, At: time.Now()}); err != nil {
		return err
	}
	k.start(w)
	return nil
}

// start starts the goroutine that writes.
func (k *Keeper) start(w *world.World) {
	k.started, k.since = true, time.Now()
	k.free, k.full = make(chan *item, queued), make(chan *item, queued)
	for range queued {
		k.free <- &item{in: k.game.NewInputs()}
	}
	k.copies = make(chan *world.World, 1)
	k.copies <- w.Host().Clone()
	k.done, k.hurry = make(chan struct{}), make(chan struct{}, 1)
	k.writer = writer{keeper: k}
	k.state.durable.Store(uint64(w.Tick()))
	k.writer.of = safety{base: k.base, stay: k.stay, world: k.worlds}
	k.writer.note()
	go func() {
		defer close(k.done)
		k.writer.run()
	}()
}

// Tick is told each tick after it was computed: what went in, and who sits where. It never waits.
func (k *Keeper) Tick(w *world.World, in *world.Inputs, seats []keep.Seat) {
	if !k.started {
		return
	}
	k.state.played.Store(uint64(w.Tick()))
	k.handOver(w, in, seats)
}

// Save hands over the whole world as it is between two ticks, and says whether it could: while
// another is being written, or ticks wait for the disk, it cannot. When Numbers has one chapter
// more and a durable tick that is no less than the world's, it is safe.
func (k *Keeper) Save(w *world.World, seats []keep.Seat) bool {
	if !k.started || len(k.copies) == 0 || len(k.free) == 0 {
		return false
	}
	k.handOver(w, nil, seats)
	return true
}

// DurableTick is the last tick of the world that a crash of the machine cannot take, or 0 while
// what is durable is that of a world before it. Any goroutine may ask.
func (k *Keeper) DurableTick() world.Tick {
	s := &k.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.safe.world != s.worlds.Load() {
		return 0
	}
	return s.safe.tick - s.safe.base
}

// Hurry has what was played be made durable at once, whatever Options.Flush says.
func (k *Keeper) Hurry() {
	if !k.started {
		return
	}
	select {
	case k.hurry <- struct{}{}:
	default: // it was said, and what was played since will be flushed as well
	}
}

// Want has the whole world be written with the next tick that finds room, where ticks come of
// themselves. When Numbers has a durable tick that is no less than one, that is safe.
func (k *Keeper) Want() { k.since = time.Time{} }

// Took is told how long the world took to compute, which a recovery will take again.
func (k *Keeper) Took(step time.Duration) { k.replay += step }

// A recovery takes about as long as the ticks since the last whole world have taken.
const (
	longestReplay = time.Second / 2
	leastApart    = time.Second // of two whole worlds
)

// due says whether a whole world is to be written.
func (k *Keeper) due() bool {
	apart := time.Since(k.since)
	return apart > k.opt.Every || apart > leastApart &&
		(k.replay > longestReplay || k.gap || k.state.broken.Load())
}

// handOver gives the other goroutine a tick, a whole world, or both.
func (k *Keeper) handOver(w *world.World, in *world.Inputs, seats []keep.Seat) {
	var it *item
	select {
	case it = <-k.free:
	default:
		k.miss(w.Tick())
		return
	}
	it.ticked, it.world = in != nil && !k.gap, nil
	if it.ticked {
		_ = it.in.CopyFrom(in) // they are of one game
		it.frame.Tick, it.frame.Inputs = w.Tick(), it.in
		it.frame.Hash, it.frame.Hashed = 0, false
		if uint64(w.Tick())%uint64(k.game.Rate()) == 0 {
			it.frame.Hash, it.frame.Hashed = w.Hash(), true
		}
		it.frame.Seats = k.changed(it.frame.Seats[:0], seats)
	} else {
		it.frame.Seats = it.frame.Seats[:0]
		if in != nil {
			k.state.missed.Add(1)
		}
	}
	if in == nil || k.due() {
		k.copy(it, w, seats)
	}
	if !it.ticked && it.world == nil {
		k.free <- it
		return
	}
	k.full <- it
}

// copy has a chapter begin with the world as it is now, unless another is being written.
func (k *Keeper) copy(it *item, w *world.World, seats []keep.Seat) {
	select {
	case it.world = <-k.copies:
	default:
		return
	}
	if it.world.Host().CopyFrom(w) != nil {
		it.world = w.Host().Clone()
	}
	it.stay, it.base, it.number = k.stay, k.base, k.worlds
	it.level, it.seats = k.level, append(it.seats[:0], seats...)
	it.fresh = k.fresh
	k.since, k.replay = time.Now(), 0
	it.at = k.since
	k.gap, k.fresh = false, false
	k.keepSeats(seats)
}

// miss notes that a tick finds no room, as the disk does not keep up.
func (k *Keeper) miss(t world.Tick) {
	k.gap = true
	k.state.missed.Add(1)
	k.state.missedAt.Store(uint64(t))
	if k.state.risk.Swap(true) {
		return // it was said
	}
	k.state.errors.Add(1)
	k.opt.Log.Error("the disk does not keep up: what is played from now on would be lost in a crash",
		"folder", k.opt.Dir, "tick", uint64(t), "durable", k.state.durable.Load())
}

// changed finds the seats that are not as they were handed over last. Both lists are by player.
func (k *Keeper) changed(to, seats []keep.Seat) []keep.Seat {
	i, old := 0, k.seats
	same := len(seats) == len(old)
	for j := range seats {
		for i < len(old) && old[i].Player < seats[j].Player {
			to, same = append(to, keep.Seat{Player: old[i].Player, Empty: true}), false
			i++
		}
		if i < len(old) && old[i].Player == seats[j].Player {
			if !old[i].Equal(&seats[j]) {
				to, same = append(to, seats[j]), false
			}
			i++
			continue
		}
		to, same = append(to, seats[j]), false
	}
	for ; i < len(old); i++ {
		to, same = append(to, keep.Seat{Player: old[i].Player, Empty: true}), false
	}
	if !same {
		k.keepSeats(seats)
	}
	return to
}

func (k *Keeper) keepSeats(seats []keep.Seat) { k.seats = append(k.seats[:0], seats...) }

// Numbers are for metrics, and for any goroutine.
type Numbers struct {
	Played, Durable  uint64 // ticks
	Errors, Chapters uint64
	Missed, Bytes    uint64
	Chapter          time.Duration // that the last one took to write
	AtRisk           bool
}

// Numbers says how the keeper does. Any goroutine may ask.
func (k *Keeper) Numbers() Numbers {
	s := &k.state
	return Numbers{
		Played: s.played.Load(), Durable: s.durable.Load(), Errors: s.errors.Load(),
		Chapters: s.chapters.Load(), Missed: s.missed.Load(), Bytes: s.bytes.Load(),
		Chapter: time.Duration(s.chapterNanos.Load()), AtRisk: s.risk.Load(),
	}
}

// closeTime is how long Close waits for the disk.
const closeTime = 10 * time.Second

// Close has all that was handed over be written, and leaves the folder to others. If the world can
// still be used it is written as a whole, so that nothing is computed at the next start, and a
// program with other rules can go on from it. The error is that not all of the game is there.
func (k *Keeper) Close(w *world.World) error {
	if k == nil {
		return nil
	}
	if k.group != nil {
		k.group.close()
	}
	k.handover.close()
	k.tokens.close()
	if !k.started {
		k.unlock()
		return nil
	}
	k.started = false
	if w != nil {
		k.writer.last = &keep.Snapshot{World: w, Level: k.level, Seats: k.seats, Stay: k.stay,
			Base: k.base, At: time.Now()}
	}
	close(k.full)
	wait := time.NewTimer(closeTime)
	defer wait.Stop()
	select {
	case <-k.done:
	case <-wait.C: // the folder stays locked as long as the program lives
		return fmt.Errorf("the disk of %s does not answer: the game is kept up to tick %d of %d",
			k.opt.Dir, k.state.durable.Load(), k.state.played.Load())
	}
	err := k.writer.err
	k.unlock()
	if err == nil && k.state.durable.Load() != k.state.played.Load() {
		err = errors.New("ticks are missing")
	}
	if err != nil {
		return fmt.Errorf("the game is kept up to tick %d of %d in %s: %w", k.state.durable.Load(),
			k.state.played.Load(), k.opt.Dir, err)
	}
	return nil
}

func (k *Keeper) unlock() {
	if k.lock != nil && !k.tokens.writing() {
		_ = k.lock.Close()
		k.lock = nil
	}
}
