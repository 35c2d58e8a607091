package terminal

import (
	"os"
	"slices"
	"strings"
)

// A depth is how many colors a terminal has.
type depth int

const (
	plain depth = iota // none: characters by brightness
	some               // 256
	full               // 24 bits
)

// colors finds out what a terminal can show, by what it says of itself.
func colors(env func(string) string) depth {
	name := env("TERM")
	for _, variable := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(variable); v != "" { // the first that is set counts
			if _, set, ok := strings.Cut(strings.ToLower(v), "."); ok &&
				!strings.HasPrefix(set, "utf") {
				return plain // it has no half blocks
			}
			break
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case env("NO_COLOR") != "" || name == "dumb":
		return plain
	case slices.Contains([]string{"truecolor", "24bit"}, env("COLORTERM")),
		env("WT_SESSION") != "", has("direct", "kitty", "alacritty", "ghostty", "wezterm", "foot"):
		return full
	case has("256", "xterm", "screen", "tmux", "rxvt", "linux", "putty"):
		return some
	}
	return plain
}

func environment() depth { return colors(os.Getenv) }

// A tint is a color of a cell: red, green and blue.
type tint uint32

func rgb(r, g, b uint8) tint { return tint(r)<<16 | tint(g)<<8 | tint(b) }

func (t tint) channels() (r, g, b int) {
	return int(t >> 16 & 255), int(t >> 8 & 255), int(t & 255)
}

// near says whether no one sees the difference between two colors.
func (t tint) near(o tint) bool {
	const step = 5
	r, g, b := t.channels()
	x, y, z := o.channels()
	return max(r-x, x-r) <= step && max(g-y, y-g) <= step && max(b-z, z-b) <= step
}

// mix is a color between two.
func (t tint) mix(o tint, part int) tint { // of 255
	r, g, b := t.channels()
	x, y, z := o.channels()
	return rgb(uint8(r+(x-r)*part/255), uint8(g+(y-g)*part/255), uint8(b+(z-b)*part/255))
}

// light is how bright it is, from 0 to 255.
func (t tint) light() int {
	r, g, b := t.channels()
	return (299*r + 587*g + 114*b) / 1000
}

// index is the nearest of the 256 colors that terminals have in common: a cube of six values a
// channel from 16 on, and 24 shades of gray from 232.
func (t tint) index() tint {
	r, g, b := t.channels()
	step := func(x int) (i, value int) {
		if x < 48 {
			return 0, 0
		}
		i = min((x-35)/40, 5)
		return i, 55 + 40*i
	}
	i, x := step(r)
	j, y := step(g)
	k, z := step(b)
	square := func(x, y, z int) int {
		return 3*(x-r)*(x-r) + 6*(y-g)*(y-g) + (z-b)*(z-b) // as the eye weighs them
	}
	gray := min(max((t.light()-3)/10, 0), 23)
	shade := 8 + 10*gray
	if square(shade, shade, shade) < square(x, y, z) {
		return tint(232 + gray)
	}
	return tint(16 + 36*i + 6*j + k)
}
