//go:build !js

package demo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/web"
)

// The page asks for frames over one socket, and each request is answered by one message. All
// numbers are little-endian; those of sizes are float32.
//
//	request  peer that is played or 0, HandWords words of what the player does, how many peers,
//	         and for each its number, width and height
//	answer   for each peer that has something to show: number, width and height of the overlay,
//	         4 words of keys that the game wants, bytes of the library that are new, bytes of the
//	         list, and both of them
//
// So a page that is slow asks seldom, and nothing waits for it.

// A canvas is what one page draws of one peer.
type canvas struct {
	seat    *seat
	viewer  viewer
	draw    func(*draw.Surface, *game.Frame)
	surface draw.Surface
	library int       // bytes of it that the page has
	last    time.Time // when it was last drawn
	frame   game.Frame
}

// A gaze is one page that looks at the party.
type gaze struct {
	party *party
	began time.Time
	known map[int]*canvas
	out   []byte
}

// Bounds of what a page asks for.
const (
	requestHead = 4 * (1 + entry.HandWords + 1)
	requestEach = 12
	mostRequest = requestHead + mostSeats*requestEach
	frameWait   = 10 * time.Second
)

var errRequest = errors.New("that is no request for frames")

// screens answers a page's requests for frames until it is closed.
func (p *party) screens(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r,
		&websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(mostRequest)
	g := &gaze{party: p, began: time.Now(), known: map[int]*canvas{}}
	defer g.close()
	for {
		kind, data, err := ws.Read(p.ending)
		if err != nil {
			return
		}
		if kind != websocket.MessageBinary {
			err = errRequest
		}
		var answer []byte
		if err == nil {
			answer, err = g.answer(r.Context(), data)
		}
		if err != nil {
			_ = ws.Close(websocket.StatusUnsupportedData, err.Error())
			return
		}
		ctx, done := context.WithTimeout(p.ending, frameWait)
		err = ws.Write(ctx, websocket.MessageBinary, answer)
		done()
		if err != nil {
			return
		}
	}
}

func (g *gaze) close() {
	for _, c := range g.known {
		c.seat.leave(&c.viewer)
	}
}

// answer draws what a page asks for.
func (g *gaze) answer(ctx context.Context, data []byte) ([]byte, error) {
	if len(data) < requestHead {
		return nil, errRequest
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(data[4*at:]) }
	yours, n := int(word(0)), int(word(1+entry.HandWords))
	if n > mostSeats || len(data) != requestHead+n*requestEach {
		return nil, errRequest
	}
	var hands [entry.HandWords]uint32
	for i := range hands {
		hands[i] = word(1 + i)
	}
	g.out = g.out[:0]
	for i := range n {
		at := 2 + entry.HandWords + 3*i
		s, err := g.party.seat(int(word(at)))
		if err != nil {
			return nil, err
		}
		width, height := size(word(at+1)), size(word(at+2))
		c := g.canvas(s)
		if s.index+1 == yours && !s.watch {
			s.mu.Lock()
			s.hands.Read(&hands, c.surface.LastCamera(), width, height)
			s.mu.Unlock()
		}
		c.paint(ctx, g.began, width, height)
		g.out = c.append(g.out)
	}
	return g.out, nil
}

// size is how many pixels a page has, within reason.
func size(word uint32) float64 {
	x := float64(math.Float32frombits(word))
	if !(x >= 1) {
		return 1
	}
	return min(x, 8192)
}

func (g *gaze) canvas(s *seat) *canvas {
	c := g.known[s.index]
	if c == nil {
		c = &canvas{seat: s, draw: g.party.title.Screen.Drawer()}
		g.known[s.index] = c
	}
	return c
}

// paint draws the peer's world, if there is one. What is past the world's tick is drawn along its
// way, as on any screen.
func (c *canvas) paint(ctx context.Context, began time.Time, width, height float64) {
	c.surface.Begin(width, height)
	w, me := c.seat.look(ctx, &c.viewer)
	if w == nil {
		return
	}
	now := time.Now()
	f := &c.frame
	f.World, f.Me, f.Time, f.Fresh, f.Seconds = w, me, now.Sub(began).Seconds(), true, 0
	if !c.last.IsZero() {
		f.Seconds = now.Sub(c.last).Seconds()
	}
	if f.Names == nil {
		f.Names = c.seat.party.nameOf
	}
	c.last = now
	c.draw(&c.surface, f)
}

// append adds what was drawn to an answer.
func (c *canvas) append(out []byte) []byte {
	list, library := c.surface.List(), c.surface.Library()[c.library:]
	c.library += len(library)
	put := binary.LittleEndian.AppendUint32
	out = put(out, uint32(c.seat.index+1))
	out = put(out, math.Float32bits(float32(c.surface.Width())))
	out = put(out, math.Float32bits(float32(c.surface.Height())))
	c.seat.mu.Lock()
	asked := c.seat.hands.Asked()
	c.seat.mu.Unlock()
	for _, a := range asked {
		out = put(out, a)
	}
	out = put(put(out, uint32(len(library))), uint32(len(list)))
	return append(append(out, library...), list...)
}

// partyState is what the page is told several times a second. The JSON names are the page's.
type partyState struct {
	Seconds float64     `json:"seconds"` // since the start
	Game    string      `json:"game"`
	Hint    string      `json:"hint"`
	Level   string      `json:"level"`
	TickMS  float64     `json:"tick_ms"`
	Preset  string      `json:"preset"`
	Presets []string    `json:"presets"`
	Latency float64     `json:"latency"` // one way, in milliseconds
	Room    bool        `json:"room"`    // for more machines
	Peers   []seatState `json:"peers"`
	News    []newsLine  `json:"news"`
	Touch   game.Touch  `json:"touch"` // what fingers are for
}

// state tells how all peers do.
func (p *party) state(ctx context.Context) (any, error) { return p.tell(ctx), nil }

func (p *party) tell(ctx context.Context) partyState {
	c, _ := p.mesh.way(0, 1)
	s := partyState{Seconds: time.Since(p.born).Seconds(), Game: p.title.Name(),
		Hint: p.title.Screen.Hint, Level: p.level.Name, TickMS: ms(p.title.Game.TickLength()),
		Presets: cli.Presets(), Latency: ms(c.Down.Latency), Touch: p.title.Screen.Touch}
	for _, x := range p.all() {
		s.Peers = append(s.Peers, x.state(ctx))
	}
	s.Room = len(s.Peers) < mostSeats
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Preset = p.preset
	s.News = append(s.News, p.news...)
	return s
}

// partyWish is what the page asks for, one thing at a time. Peers are numbered from 1.
type partyWish struct {
	Crash   int    `json:"crash"`
	Restart int    `json:"restart"`
	Cut     int    `json:"cut"`
	Heal    int    `json:"heal"`
	Take    int    `json:"take"` // a person plays it, and bots the others
	Release bool   `json:"release"`
	Style   string `json:"style"`
	Peer    int    `json:"peer"` // with Style, or 0 for all
	Preset  string `json:"preset"`
	Join    bool   `json:"join"`
	Watch   bool   `json:"watch"`
}

// obey does what the page asks for.
func (p *party) obey(wish *partyWish) error {
	one := func(number int, do func(*seat) error) error {
		s, err := p.seat(number)
		if err != nil {
			return err
		}
		return do(s)
	}
	switch {
	case wish.Crash != 0:
		return one(wish.Crash, p.crash)
	case wish.Restart != 0:
		return one(wish.Restart, p.restart)
	case wish.Cut != 0:
		return one(wish.Cut, func(s *seat) error { return p.cut(s, true) })
	case wish.Heal != 0:
		return one(wish.Heal, func(s *seat) error { return p.cut(s, false) })
	case wish.Take != 0:
		return one(wish.Take, p.take)
	case wish.Release:
		return p.take(nil)
	case wish.Style != "" && wish.Peer != 0:
		return one(wish.Peer, func(s *seat) error { return p.setStyle(wish.Style, s) })
	case wish.Style != "":
		return p.setStyle(wish.Style, p.all()...)
	case wish.Preset != "":
		return p.usePreset(wish.Preset)
	case wish.Join, wish.Watch:
		return p.come(wish.Watch)
	}
	return fmt.Errorf("nothing to do: crash, restart, cut, heal, take, release, style, preset, " +
		"join or watch")
}

// take has a person play one of the peers, and bots the others.
func (p *party) take(s *seat) error {
	if s != nil && s.watch {
		return fmt.Errorf("%s only watches", s.name)
	}
	for _, o := range p.all() {
		o.auto.Store(o != s)
	}
	return nil
}

// keyCodes are the keys that a page may tell of, by what browsers call them.
func keyCodes() map[string]game.Key {
	all := map[string]game.Key{"PadA": game.KeyPadA} // and the others of a gamepad after it
	add := func(code string) {
		if k := game.KeyCode(code); k != game.KeyNone {
			all[code] = k
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		add("Key" + string(c))
	}
	for c := '0'; c <= '9'; c++ {
		add("Digit" + string(c))
	}
	for _, code := range []string{"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space",
		"Enter", "ShiftLeft", "ShiftRight", "ControlLeft", "ControlRight", "AltLeft", "Tab",
		"Backspace", "Comma", "Period", "Slash"} {
		add(code)
	}
	return all
}

// asset serves an image or a sound of the game.
func (p *party) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if p.title.Screen.Assets == nil || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	b, err := fs.ReadFile(p.title.Screen.Assets, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b) // a page that is gone needs none
}

// mount adds what the page with peers asks for.
func (p *party) mount(mux *http.ServeMux, _ *serve.Refusals) {
	mux.HandleFunc("GET /api/screens", p.screens)
	mux.HandleFunc("GET /api/files/{name...}", p.asset)
	mux.HandleFunc("GET /api/keys", func(w http.ResponseWriter, _ *http.Request) {
		serve.Answer(w, keyCodes(), http.StatusOK, nil)
	})
	mux.Handle("POST /api/peers", wish("order for peers", p.obey,
		func() partyState { return p.tell(p.ending) }))
}

func (p *party) page() web.Options { return web.Options{Index: "peers.html"} }

// every is often, so that plots move.
func (p *party) every() time.Duration { return 200 * time.Millisecond }
