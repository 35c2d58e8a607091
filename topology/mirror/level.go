package mirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is how all mirrors begin another level. Whoever wants it tells the others what the
// level is; each makes its world beside the ticks, and says when it has. Then the überserver names
// a tick. It is the last of the old world, and is settled as any other; the new world begins with
// it. So whoever dies meanwhile, and whatever is on whose disk, the decision counts for all or for
// nobody, as all that überservers decide does.
//
// The ticks of a new world begin with 0, and those of the group go on: promises, assignments, what
// is said on the wire and the group's time know nothing of levels. What is between the two is the
// base, the tick of the group with which the world began.

// levels are which level is played, and which is to be.
type levels struct {
	base    world.Tick // the group's tick with which the world began
	next    world.Tick // the last of this world, if it is decided; or 0
	id      uint64     // of the level that was decided last
	changes uint32     // how often one was

	offers  map[member.ID]*offer // what others tell of a level
	says    map[member.ID]levelSaid
	made    *making   // the level that this mirror has made ready, or is about to
	wanting *offering // what somebody here asks for
}

// What an item says of a level.
const (
	levelPart byte = iota + 1 // a piece of it
	levelAsk                  // somebody wants it to begin
	levelSays                 // how far a mirror is with it
	levelAt                   // the überserver says after which tick it begins
	levelKinds
)

// How far a mirror is with a level.
const (
	levelLacks byte = iota // not all of it has come
	levelMakes
	levelReady
	levelWrong // it cannot begin
	levelStates
)

// A levelSaid is what a mirror has said of a level.
type levelSaid struct {
	id    uint64
	state byte
	text  string // what is wrong
}

// An offer is a level of which pieces come.
type offer struct {
	id    uint64
	total int
	data  []byte
}

// An offering is a level that somebody at this mirror asks for.
type offering struct {
	level   server.Level
	id      uint64
	data    []byte
	sent    int    // bytes of it
	changes uint32 // as many levels had been decided on when it was asked for
	asked   time.Duration
	wanted  time.Duration // when somebody asked for it here last
	began   time.Duration // when it was begun to be sent
}

// A making is a level that is made ready, beside the ticks where Run drives the mirror.
type making struct {
	level server.Level
	id    uint64
	done  chan struct{}
	made  *server.Prepared
	err   error
}

// ready says whether it is known what has come of it.
func (x *making) ready() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

const (
	// askLevelEvery is how often it is asked whether a level may begin, tellAgain when it is told
	// once more to one who lacks it, and forgetLevel when nobody asks any more.
	askLevelEvery = 50 * time.Millisecond
	tellAgain     = 2 * time.Second
	forgetLevel   = 5 * time.Second
	// levelPieces are sent in a tick.
	levelPieces = 4
	// maxLevel bounds what a level has in all.
	maxLevel = 64<<20 + 4<<10
	// settleIn is for how long after a level has begun no commands count: what players command
	// then, they do in the level before.
	settleIn = 500 * time.Millisecond
	// trialTicks is how far a level is tried before it counts as ready.
	trialTicks = 8
)

// ErrOtherLevel says that another level has begun than was asked for. Use errors.Is.
var ErrOtherLevel = errors.New("mirror: another level was asked for meanwhile, and has begun")

// ErrCannotChange says that mirrors with this timeline stay in their level. Use errors.Is.
var ErrCannotChange = errors.New("mirrors with this timeline stay in the level that their game " +
	"was founded with: found another group for another level, and send everyone there")

// ErrLevel says that a mirror cannot begin a level. Use errors.Is.
var ErrLevel = errors.New("mirror: the level cannot begin, and nothing was changed")

// Change asks that all mirrors begin another level, at an agreed tick. Ask again until it is done,
// which is when the level has begun here; what was given up comes to nothing soon. Two levels that
// differ in their secret alone are two. Where Run drives the mirror the level is made ready beside
// the ticks; else the call of Poll that does it takes as long as the game needs.
func (m *Mirror) Change(l server.Level) (done bool, err error) {
	if err := m.canChange(); err != nil {
		return false, err
	}
	v := &m.levels
	if sameLevel(&m.show.level, &l) && v.next == 0 {
		v.wanting = nil
		return true, nil
	}
	if v.wanting == nil || !sameLevel(&v.wanting.level, &l) {
		if _, err := m.opt.Server.Title.Settings(l); err != nil {
			return false, fmt.Errorf("%w: %w", ErrLevel, err)
		}
		data := levelBytes(&l)
		v.wanting = &offering{level: l, data: data, id: levelID(data), changes: v.changes,
			began: m.clock.steady}
	}
	o := v.wanting
	o.wanted = m.clock.steady
	switch {
	case v.changes != o.changes && v.id != o.id:
		v.wanting = nil
		return false, ErrOtherLevel
	case v.next != 0:
		return false, nil // it is decided
	case m.pause.on():
		return false, ErrPaused
	case m.halt.at != 0:
		return false, ErrHalts
	}
	m.makeReady(l, o.id)
	for _, id := range m.players() {
		if s := v.says[id]; s.id == o.id && s.state == levelWrong {
			v.wanting = nil
			return false, fmt.Errorf("%w: mirror %d: %s", ErrLevel, id, s.text)
		}
	}
	return false, nil
}

func (m *Mirror) canChange() error {
	switch {
	case !m.goesOn() || m.life.phase != Serving || m.show.server == nil:
		return errIdle
	case m.line.Waits() || m.ruled.line != nil || !kinds.HasWindow(m.opt.Timeline):
		return fmt.Errorf("mirror: %s: %w", m.opt.Timeline, ErrCannotChange)
	}
	return nil
}

// Base is how many ticks the group had when the world of the level began, which counts its own from
// 0. What News and Stats say of ticks, and what the disks have, is in those of the group.
func (m *Mirror) Base() world.Tick { return m.levels.base }

// at is the group's tick of a world.
func (m *Mirror) at(w *world.World) world.Tick { return m.levels.base + w.Tick() }

// sameLevel says whether two levels are one, begun once.
func sameLevel(a, b *server.Level) bool {
	return a.Name == b.Name && a.Seed == b.Seed && a.Secret == b.Secret &&
		bytes.Equal(a.Data, b.Data)
}

// levelFields reads or writes a level.
func levelFields(c *bits.Cursor, l *server.Level) {
	text(c, &l.Name, 1<<10)
	c.U64(&l.Seed)
	c.U64(&l.Secret)
	blob(c, &l.Data, 1<<30)
}

func levelBytes(l *server.Level) []byte {
	c := bits.CursorTo(nil)
	levelFields(&c, l)
	return c.Data()
}

// levelID names a level.
func levelID(data []byte) uint64 {
	sum := sha256.Sum256(data)
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// players are the mirrors that were started, this one included.
func (m *Mirror) players() (list []member.ID) {
	members := m.group.node.Group().Members()
	if m.in.started {
		list = append(list, m.roll.self)
	}
	for _, p := range m.peers {
		if p.started && slices.Contains(members, p.id) {
			list = append(list, p.id)
		}
	}
	return list
}

// asksForLevel tells the others of a level that somebody wants here, and asks for it.
func (m *Mirror) asksForLevel() {
	v, now := &m.levels, m.clock.steady
	o := v.wanting
	switch {
	case o == nil:
		return
	case now-o.wanted > forgetLevel:
		v.wanting = nil
		return
	case v.next != 0 || v.changes != o.changes || m.life.phase != Serving:
		return
	}
	if o.sent < len(o.data) {
		if len(m.in.pending) > levelPieces {
			return // what was told before has not left
		}
		size := m.group.node.Group().MaxMessage() - roomForTold
		for range levelPieces {
			n := min(size, len(o.data)-o.sent)
			if n <= 0 {
				break
			}
			m.queue(item{kind: itemLevel, what: levelPart, client: o.id, load: uint32(len(o.data)),
				room: uint32(o.sent), data: o.data[o.sent : o.sent+n]})
			o.sent += n
		}
		return
	}
	if now-o.began > tellAgain && slices.ContainsFunc(m.players(), func(id member.ID) bool {
		s := v.says[id]
		return id != m.roll.self && (s.id != o.id || s.state == levelLacks)
	}) {
		o.sent, o.began = 0, now
	}
	if now-o.asked >= askLevelEvery {
		o.asked = now
		m.queue(item{kind: itemLevel, what: levelAsk, client: o.id, load: v.changes})
	}
}

// hearLevel takes what is said of a level, by another mirror or this one.
func (m *Mirror) hearLevel(from member.ID, it *item) {
	v := &m.levels
	switch it.what {
	case levelPart:
		m.hearPart(from, it)
	case levelAsk:
		m.sayLevel(it.client)
		if m.leads() && it.load == v.changes && v.next == 0 && !m.pause.on() && m.halt.at == 0 &&
			m.allReady(it.client) {
			rate := world.Tick(m.game.Rate())
			t := m.decidable() + m.ticks(haltAhead)
			m.queue(item{kind: itemLevel, what: levelAt, client: it.client, epoch: m.roll.epoch,
				tick: (t + rate - 1) / rate * rate})
		}
	case levelSays:
		if v.says == nil {
			v.says = map[member.ID]levelSaid{}
		}
		v.says[from] = levelSaid{it.client, byte(it.load), it.text}
	case levelAt:
		if m.believes(from, it, "it begins a level and is not überserver") {
			m.decidedLevel(it)
		}
	}
}

// hearPart takes a piece of a level. They come in order, and again if somebody lacks one.
func (m *Mirror) hearPart(from member.ID, it *item) {
	v := &m.levels
	if from == m.roll.self || v.made != nil && v.made.id == it.client {
		return
	}
	o := v.offers[from]
	if o == nil || o.id != it.client {
		o = &offer{id: it.client, total: int(it.load)}
		if v.offers == nil {
			v.offers = map[member.ID]*offer{}
		}
		v.offers[from] = o
	}
	if int(it.room) != len(o.data) || len(o.data)+len(it.data) > o.total {
		return
	}
	if o.data = append(o.data, it.data...); len(o.data) < o.total {
		return
	}
	delete(v.offers, from)
	var l server.Level
	c := bits.CursorOver(o.data)
	if levelFields(&c, &l); !c.Done() || levelID(o.data) != o.id {
		m.refuse(from, errors.New("the level that it tells of makes no sense"))
		return
	}
	m.makeReady(l, o.id)
}

// makeReady begins to make a level ready, unless another is to begin.
func (m *Mirror) makeReady(l server.Level, id uint64) {
	v := &m.levels
	if m.show.server == nil || v.made != nil && v.made.id == id || v.next != 0 && id != v.id {
		return
	}
	x := &making{level: l, id: id, done: make(chan struct{})}
	v.made = x
	s, kind, o := m.show.server, m.opt.Timeline, m.lineOptions()
	work := func() {
		defer close(x.done)
		if x.made, x.err = s.Prepare(l); x.err != nil {
			return
		}
		if _, x.err = kinds.Open(kind, x.made.World().Host().Clone(), o); x.err != nil {
			return
		}
		for w, i := x.made.World().Host().Clone(), 0; i < trialTicks; i++ {
			if p := (*world.Panic)(nil); errors.As(w.Host().TryStep(nil), &p) {
				x.err = p
				return
			}
		}
	}
	if m.beside {
		m.makings.Go(work)
	} else {
		work()
	}
}

// sayLevel tells how far this mirror is with a level.
func (m *Mirror) sayLevel(id uint64) {
	if !m.in.started {
		return
	}
	it := item{kind: itemLevel, what: levelSays, client: id, load: uint32(levelLacks)}
	if x := m.levels.made; x != nil && x.id == id {
		switch {
		case !x.ready():
			it.load = uint32(levelMakes)
		case x.err != nil:
			it.load, it.text = uint32(levelWrong), firstLine(x.err)
		default:
			it.load = uint32(levelReady)
		}
	}
	m.queue(it)
}

// firstLine is what an error says without what a stack adds.
func firstLine(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}

// allReady says whether all mirrors that were started have a level ready.
func (m *Mirror) allReady(id uint64) bool {
	return !slices.ContainsFunc(m.players(), func(member member.ID) bool {
		s := m.levels.says[member]
		return s.id != id || s.state != levelReady
	})
}

// decidedLevel does what the überserver says. All mirrors hear all that überservers say in one
// order.
func (m *Mirror) decidedLevel(it *item) {
	v := &m.levels
	switch {
	case it.tick%world.Tick(m.game.Rate()) != 0:
		m.refuse(m.roll.uber, errors.New("it begins a level within a second"))
	case v.next != 0:
		m.again("it is behind by more than a level")
	case v.made == nil || v.made.id != it.client:
		m.again("it lacks the level that begins")
	default:
		v.next, v.id = it.tick, it.client
		v.changes++
	}
}

// closed says whether a tick belongs to a world that has not begun here.
func (v *levels) closed(t world.Tick) bool { return v.next != 0 && t > v.next }

// fields reads or writes what a newcomer has to know of levels beside the one that is played.
func (v *levels) fields(c *bits.Cursor) {
	tick(c, &v.base)
	c.U32(&v.changes)
	tick(c, &v.next)
	if v.next == 0 || !c.OK() {
		return
	}
	if c.Reading() {
		v.made = &making{done: make(chan struct{})}
	}
	levelFields(c, &v.made.level)
	if c.Reading() {
		v.id = levelID(levelBytes(&v.made.level))
	}
}

// level is what an item says of a level.
func (it *item) level(c *bits.Cursor, promise world.Tick) {
	c.U8(&it.what)
	c.Check(it.what > 0 && it.what < levelKinds)
	c.U64(&it.client)
	switch it.what {
	case levelPart:
		bits.Number(c, &it.load, maxLevel)
		bits.Number(c, &it.room, maxLevel)
		blob(c, &it.data, maxTold)
	case levelAsk:
		bits.Number(c, &it.load, math.MaxUint32)
	case levelSays:
		bits.Number(c, &it.load, uint64(levelStates)-1)
		text(c, &it.text, maxText)
	case levelAt:
		after(c, promise, &it.tick)
		c.U32(&it.epoch)
	}
}

// early says whether a command was for the level before, by its tick.
func (m *Mirror) early(c *timeline.Command) bool {
	b := m.levels.base
	return b != 0 && c.Kind == timeline.Give && c.Tick <= b+m.ticks(settleIn)
}
