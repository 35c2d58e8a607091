package film

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/coeval-dev/coeval/lab"
)

// The size of a picture in characters, each of which has two pixels, one above the other.
const letterColumns, letterRows = 48, 14

// ramp are characters from dark to bright. Players are digits, so none of them is one.
const ramp = " .:-=+*#%@"

// Report tells of each moment, with a strip of pictures in characters.
func (r *Result) Report(p *lab.Report) {
	p.Say("%s, %d players, %s on %s, seed %d, %.0f s after %.0f s", r.played(), r.Players,
		r.Architecture, r.Network, r.Seed, r.Seconds, r.Warm)
	if len(r.Moments) == 0 {
		p.Add("Nothing of what was looked for went wrong.")
		return
	}
	if r.crew.letters && r.crew.marked() {
		p.Add("In pictures a digit is a player's body, by that player's number, and O is where " +
			"the body of whom it is about truly was at the tick that a screen shows.")
	}
	for i := range r.Moments {
		m := &r.Moments[i]
		p.Say("%s", m.title())
		for _, text := range m.Words {
			p.Add("%s", text)
		}
		if r.crew.letters {
			r.strip(p, m)
		}
	}
	if r.Page != "" {
		p.Say("The films are in %s.", r.Page)
	}
}

// played is the game, and where.
func (r *Result) played() string {
	if r.Level == "" {
		return r.Game
	}
	return r.Game + ", map " + r.Level
}

// strip draws the rows of a moment: what was held, and the screens of those whom it is about.
func (r *Result) strip(p *lab.Report, m *Moment) {
	w := m.window
	var views []*view
	views = append(views, w.view(w.players[0], true))
	for _, player := range w.players[:w.involved] {
		views = append(views, w.view(player, false))
	}
	across := max(1, (p.Width()+2)/(letterColumns+2))
	for _, row := range m.Strip {
		p.Say("%.3f s, %s", row.At, row.When)
		for from := 0; from < len(views); from += across {
			lines := make([]string, letterRows+1)
			for k, v := range views[from:min(from+across, len(views))] {
				if k > 0 {
					for i := range lines {
						lines[i] += "  "
					}
				}
				for i, text := range r.crew.characters(w, v, row.At) {
					lines[i] += text
				}
			}
			p.Exactly(lines)
		}
	}
}

// characters are a view at an instant: a line that says what it is, and the picture.
func (c *crew) characters(w *window, v *view, at float64) []string {
	p := v.when(instant(at))
	head := c.nameOf(v)
	lines := make([]string, 1, letterRows+1)
	if p == nil {
		head += ": nothing yet"
	} else {
		head += fmt.Sprintf(", tick %d", p.tick)
	}
	lines[0] = fmt.Sprintf("%-*.*s", letterColumns, letterColumns, head)
	if p == nil || p.letters == nil {
		for range letterRows {
			lines = append(lines, strings.Repeat(" ", letterColumns))
		}
		return lines
	}
	cells := shades(p.letters)
	if c.marked() {
		c.digits(w, v, p, cells)
	}
	for y := range letterRows {
		lines = append(lines, string(cells[y*letterColumns:(y+1)*letterColumns]))
	}
	return lines
}

// nameOf says what a view shows.
func (c *crew) nameOf(v *view) string {
	switch {
	case v.held:
		return fmt.Sprintf("the mirror of player %d", v.player)
	case v.server:
		return c.holder
	}
	return fmt.Sprintf("player %d's screen", v.player)
}

// shades make a character of each two pixels. What is darkest in the picture is blank.
func shades(img *image.RGBA) []byte {
	cells := make([]byte, letterColumns*letterRows)
	light := func(x, y int) float64 {
		q := img.Pix[img.PixOffset(x, y):]
		return 0.3*float64(q[0]) + 0.59*float64(q[1]) + 0.11*float64(q[2])
	}
	for i := range cells {
		x, y := i%letterColumns, i/letterColumns
		part := max(0, ((light(x, 2*y)+light(x, 2*y+1))/2-20)/235)
		cells[i] = ramp[min(int(math.Pow(part, 0.7)*float64(len(ramp))), len(ramp)-1)]
	}
	return cells
}

// digits puts players' numbers where their bodies are, and on a screen a mark where those whom it
// is about truly were.
func (c *crew) digits(w *window, v *view, p *picture, cells []byte) {
	lens := p.camera.Lens(letterColumns, 2*letterRows)
	put := func(b *Body, letter byte) {
		x, y := lens.At(b.At[0], b.At[1])
		column, row := int(math.Floor(x)), int(math.Floor(y/2))
		if column >= 0 && row >= 0 && column < letterColumns && row < letterRows {
			cells[row*letterColumns+column] = letter
		}
	}
	if !v.server {
		for _, player := range w.players[:w.involved] {
			if b := of(w.truth[p.tick], player); b != nil {
				put(b, 'O')
			}
		}
	}
	for i := range p.bodies {
		if n := p.bodies[i].Player; n > 0 && n < 10 {
			put(&p.bodies[i], byte('0'+n))
		} else {
			put(&p.bodies[i], '?')
		}
	}
}
