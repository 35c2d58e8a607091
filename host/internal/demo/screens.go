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

// A canvas is what one page draws of one game.
type canvas struct {
	number  int // by which the page knows it
	draw    func(*draw.Surface, *game.Frame)
	surface draw.Surface
	library int       // bytes of it that the page has
	last    time.Time // when it was last drawn
}

// A seatCanvas is one of a peer.
type seatCanvas struct {
	canvas
	seat   *seat
	viewer viewer
	frame  game.Frame
}

// A gaze is one page that looks at the party.
type gaze struct {
	party *party
	began time.Time
	known map[int]*seatCanvas
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
	g := &gaze{party: p, began: time.Now(), known: map[int]*seatCanvas{}}
	defer g.close()
	answerScreens(p.ending, w, r, g.answer)
}

// answerScreens answers each message of a page by another, until one of both is gone.
func answerScreens(ending context.Context, w http.ResponseWriter, r *http.Request,
	do func(ctx context.Context, data []byte) ([]byte, error)) {
	ws, err := websocket.Accept(w, r,
		&websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(mostRequest)
	for {
		kind, data, err := ws.Read(ending)
		if err != nil {
			return
		}
		if kind != websocket.MessageBinary {
			err = errRequest
		}
		var answer []byte
		if err == nil {
			answer, err = do(r.Context(), data)
		}
		if err != nil {
			_ = ws.Close(websocket.StatusUnsupportedData, err.Error())
			return
		}
		ctx, done := context.WithTimeout(ending, frameWait)
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

// A request is what a page asks for.
type request struct {
	yours int // the number of the one that is played, or 0
	hands [entry.HandWords]uint32
	list  []sized
}

// sized is something to be drawn, with how large it is to be.
type sized struct {
	number        int
	width, height float64
}

func readRequest(data []byte) (q request, err error) {
	if len(data) < requestHead {
		return q, errRequest
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(data[4*at:]) }
	n := int(word(1 + entry.HandWords))
	if n > mostSeats || len(data) != requestHead+n*requestEach {
		return q, errRequest
	}
	q.yours = int(word(0))
	for i := range q.hands {
		q.hands[i] = word(1 + i)
	}
	for i := range n {
		at := 2 + entry.HandWords + 3*i
		q.list = append(q.list, sized{int(word(at)), size(word(at + 1)), size(word(at + 2))})
	}
	return q, nil
}

// answer draws what a page asks for.
func (g *gaze) answer(ctx context.Context, data []byte) ([]byte, error) {
	q, err := readRequest(data)
	if err != nil {
		return nil, err
	}
	g.out = g.out[:0]
	for _, x := range q.list {
		s, err := g.party.seat(x.number)
		if err != nil {
			return nil, err
		}
		c := g.canvas(s)
		if x.number == q.yours && !s.watch {
			s.mu.Lock()
			s.hands.Read(&q.hands, c.surface.LastCamera(), x.width, x.height)
			s.mu.Unlock()
		}
		c.surface.Begin(x.width, x.height)
		if w, me := s.look(ctx, &c.viewer); w != nil {
			f := &c.frame
			f.World, f.Me, f.Fresh = w, me, true
			c.paint(f, g.began)
		}
		s.mu.Lock()
		asked := s.hands.Asked()
		s.mu.Unlock()
		g.out = c.append(g.out, asked)
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

func (g *gaze) canvas(s *seat) *seatCanvas {
	c := g.known[s.index]
	if c == nil {
		c = &seatCanvas{seat: s}
		c.number, c.draw, c.frame.Names = s.index+1, g.party.title.Screen.Drawer(), g.party.nameOf
		g.known[s.index] = c
	}
	return c
}

// paint draws a frame, on a screen that was there from some time on.
func (c *canvas) paint(f *game.Frame, began time.Time) {
	now := time.Now()
	f.Time, f.Seconds = now.Sub(began).Seconds(), 0
	if !c.last.IsZero() {
		f.Seconds = now.Sub(c.last).Seconds()
	}
	c.last = now
	c.draw(&c.surface, f)
}

// append adds what was drawn to an answer, with the keys that the game wants.
func (c *canvas) append(out []byte, asked [4]uint32) []byte {
	list, library := c.surface.List(), c.surface.Library()[c.library:]
	c.library += len(library)
	put := binary.LittleEndian.AppendUint32
	out = put(out, uint32(c.number))
	out = put(out, math.Float32bits(float32(c.surface.Width())))
	out = put(out, math.Float32bits(float32(c.surface.Height())))
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

// asset serves an image or a sound of a game.
func asset(t *game.Title) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if t.Screen.Assets == nil || !fs.ValidPath(name) {
			http.NotFound(w, r)
			return
		}
		b, err := fs.ReadFile(t.Screen.Assets, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(b) // a page that is gone needs none
	}
}

// mountScreens adds what pages need on which the program draws.
func mountScreens(mux *http.ServeMux, t *game.Title, screens http.HandlerFunc) {
	mux.HandleFunc("GET /api/screens", screens)
	mux.HandleFunc("GET /api/files/{name...}", asset(t))
	mux.HandleFunc("GET /api/keys", func(w http.ResponseWriter, _ *http.Request) {
		serve.Answer(w, keyCodes(), http.StatusOK, nil)
	})
}

// mount adds what the page with peers asks for.
func (p *party) mount(mux *http.ServeMux, _ *serve.Refusals) {
	mountScreens(mux, p.title, p.screens)
	mux.Handle("POST /api/peers", wish("order for peers", p.obey,
		func() partyState { return p.tell(p.ending) }))
}

func (p *party) page() web.Options { return web.Options{Index: "peers.html"} }

// every is often, so that plots move.
func (p *party) every() time.Duration { return 200 * time.Millisecond }
