package film

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/vector"
	"github.com/coeval-dev/coeval/lab/page"
	"github.com/coeval-dev/coeval/world"
)

var (
	//go:embed film.html
	pageText string
	//go:embed film.css
	pageStyle string
	//go:embed film.js
	pageScript string
)

// What the page's script reads. Names are short, as there are many of them.
type reels struct {
	Width  float64  `json:"width"`
	Height float64  `json:"height"`
	Step   float64  `json:"step"` // a tick, in milliseconds
	Body   float64  `json:"body"` // how wide a body is, in units
	Pieces []string `json:"pieces"`
	Reels  []reel   `json:"reels"`
}

// A reel is the film of a moment. Times are in milliseconds since measuring began.
type reel struct {
	At       float64 `json:"at"`
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Players  []int   `json:"players"`
	Involved int     `json:"involved"`
	Views    []shots `json:"views"`
}

type shots struct {
	Player   int    `json:"player"`
	Server   bool   `json:"server"`
	Name     string `json:"name"`
	Pictures []shot `json:"pictures"`
}

type shot struct {
	At     float64      `json:"a"`
	Tick   world.Tick   `json:"t"`
	Frame  vector.Frame `json:"f"`
	Bodies []place      `json:"b,omitempty"`
}

// A place is where a body is.
type place struct {
	Player int        `json:"p"`
	At     [3]float64 `json:"x"`
	Off    *float64   `json:"o,omitempty"`
	// Shown and True are where it is in the picture, and where it truly was at that tick.
	Shown *[2]float64 `json:"s,omitempty"`
	True  *[2]float64 `json:"w,omitempty"`
}

// figure is a picture of the strip.
type figure struct {
	Name    string
	Tick    world.Tick
	Picture template.HTML
}

type figures struct {
	When string
	At   string
	List []figure
}

// momentData is what the template is given of a moment.
type momentData struct {
	Title string
	Words []string
	Strip []figures
}

// HTML is a page that needs no network: the strips as pictures, and the films with a script that
// shows them.
func (r *Result) HTML() ([]byte, error) {
	packed, err := r.packed()
	if err != nil {
		return nil, err
	}
	data := struct {
		*Result
		Defs   template.HTML
		Films  []momentData
		Marked bool
	}{r, template.HTML(r.crew.sheet.Defs()), nil, r.crew.marked()}
	for i := range r.Moments {
		data.Films = append(data.Films, r.static(&r.Moments[i]))
	}
	content, err := json.Marshal(packed)
	if err != nil {
		return nil, err
	}
	p := page.Page{Text: pageText, Style: pageStyle, Script: pageScript, Data: data,
		Content: content}
	return p.HTML()
}

// static is the strip of a moment.
func (r *Result) static(m *Moment) momentData {
	c, w := r.crew, m.window
	d := momentData{Title: m.title(), Words: m.Words}
	views := []*view{w.view(w.players[0], true)}
	for _, p := range w.players[:w.involved] {
		views = append(views, w.view(p, false))
	}
	for _, row := range m.Strip {
		line := figures{When: row.When, At: fmt.Sprintf("%.3f s", row.At)}
		for _, v := range views {
			f := figure{Name: c.nameOf(v)}
			if p := v.when(instant(row.At)); p != nil {
				f.Tick = p.tick
				svg := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img">%s%s%s</svg>`, pageWidth,
					pageHeight, c.sheet.Inner(p.frame), c.rings(w, v, p), c.tags(w, p))
				f.Picture = template.HTML(svg)
			}
			line.List = append(line.List, f)
		}
		d.Strip = append(d.Strip, line)
	}
	return d
}

// rings mark where those whom it is about truly were at the tick of a screen's picture.
func (c *crew) rings(w *window, v *view, p *picture) (text string) {
	if v.server || !c.marked() {
		return ""
	}
	lens := p.camera.Lens(pageWidth, pageHeight)
	radius := math.Max(c.subject.Width()/2*math.Abs(lens.Scale), 5)
	for _, player := range w.players[:w.involved] {
		is, shown := of(w.truth[p.tick], player), of(p.bodies, player)
		if is == nil {
			continue
		}
		x, y := lens.At(is.At[0], is.At[1])
		text += fmt.Sprintf(`<circle class="true" cx="%.1f" cy="%.1f" r="%.1f"/>`, x, y, radius)
		if shown != nil {
			sx, sy := lens.At(shown.At[0], shown.At[1])
			text += fmt.Sprintf(`<line class="true" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, sx,
				sy, x, y)
		}
	}
	return text
}

// tags are the numbers of those whom it is about, beside their bodies in a picture.
func (c *crew) tags(w *window, p *picture) (text string) {
	if !c.marked() {
		return ""
	}
	lens := p.camera.Lens(pageWidth, pageHeight)
	for _, player := range w.players[:w.involved] {
		if b := of(p.bodies, player); b != nil {
			at := onPage(&lens, b)
			text += fmt.Sprintf(`<text class="tag" x="%g" y="%g">%d</text>`, at[0]+10, at[1]-8,
				player)
		}
	}
	return text
}

// packed is all films as the script reads them: JSON, compressed, in base 64.
func (r *Result) packed() (string, error) {
	c := r.crew
	all := reels{Width: pageWidth, Height: pageHeight, Pieces: c.sheet.Pieces(),
		Step: millis(c.subject.Game.TickLength()), Body: r.Width}
	for i := range r.Moments {
		w := r.Moments[i].window
		one := reel{At: millis(w.at), From: millis(w.from), To: millis(w.to), Players: w.players,
			Involved: w.involved}
		for _, v := range w.views {
			s := shots{Player: v.player, Server: v.server, Name: c.nameOf(v)}
			for k := range v.pictures {
				s.Pictures = append(s.Pictures, c.shot(w, v, &v.pictures[k]))
			}
			one.Views = append(one.Views, s)
		}
		all.Reels = append(all.Reels, one)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	err = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func (c *crew) shot(w *window, v *view, p *picture) shot {
	s := shot{At: millis(p.at), Tick: p.tick, Frame: p.frame}
	lens := p.camera.Lens(pageWidth, pageHeight)
	for i := range p.bodies {
		b := &p.bodies[i]
		x := place{Player: b.Player, At: [3]float64{three(b.At[0]), three(b.At[1]), three(b.At[2])},
			Off: b.Off}
		if c.marked() {
			x.Shown = onPage(&lens, b)
			if is := findBody(w.truth[p.tick], b.id); is != nil && !v.server && is.life == b.life {
				x.True = onPage(&lens, is)
			}
		}
		s.Bodies = append(s.Bodies, x)
	}
	return s
}

func onPage(lens *draw.Lens, b *Body) *[2]float64 {
	x, y := lens.At(b.At[0], b.At[1])
	return &[2]float64{math.Round(x*10) / 10, math.Round(y*10) / 10}
}

func three(v float64) float64 { return math.Round(v*1000) / 1000 }

// millis is a time in milliseconds, to a microsecond.
func millis(d time.Duration) float64 { return math.Round(float64(d)/1000) / 1000 }
