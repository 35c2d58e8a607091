package vector

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"

	"github.com/coeval-dev/coeval/draw"
)

// picture defines an image that is made of calls.
func (c *Screen) picture(call *draw.Call) error {
	w, h, density := call.N[0], call.N[1], call.N[2]
	var b strings.Builder
	p := &pen{screen: c, width: w, height: h, fine: density,
		lens: draw.Lens{Scale: 1, ScaleY: 1},
		emit: func(f Frame, text string) (Frame, error) {
			b.WriteString(text)
			return f, nil
		}}
	if err := p.draw(call.Bytes); err != nil {
		return err
	}
	inner := fmt.Sprintf(`viewBox="0 0 %s %s" preserveAspectRatio="none">%s</symbol>`,
		number(w, 4), number(h, 4), b.String())
	name, err := c.sheet.define("picture "+inner, func(name string) string {
		return fmt.Sprintf(`<symbol id="%s" %s`, name, inner)
	})
	c.defs[call.ID] = name
	return err
}

// shows is the name of what shows an image, or nothing where there is none.
func (c *Screen) shows(id uint16) (string, error) {
	if name, ok := c.defs[id]; ok {
		return name, nil
	}
	c.defs[id] = ""
	file := c.names[id]
	var img image.Image
	if c.sheet.Images != nil {
		img = c.sheet.Images(file)
	}
	if img == nil {
		c.missing = append(c.missing, file)
		return "", nil
	}
	var err error
	c.defs[id], err = c.sheet.define("file "+file, func(name string) string {
		return fmt.Sprintf(`<symbol id="%s" viewBox="0 0 1 1" preserveAspectRatio="none">`+
			`<image width="1" height="1" preserveAspectRatio="none" href="%s"/></symbol>`, name,
			encoded(img))
	})
	return c.defs[id], err
}

// encoded is an image as an address that holds it.
func encoded(img image.Image) string {
	var b bytes.Buffer
	_ = png.Encode(&b, img) // to memory it never fails
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// image draws one, or a marked box in its place.
func (p *pen) image(c *draw.Call) {
	name, err := p.screen.shows(c.ID)
	p.err = errors.Join(p.err, err)
	w, h := c.N[2], c.N[3]
	if w == 0 || h == 0 {
		return
	}
	if name == "" {
		p.add(p.rect(-w/2, -h/2, w, h) + p.place(c.N[0], c.N[1], c.N[4], true) +
			` fill="#400032" stroke="#ff00c8"` +
			p.stroke(min(math.Abs(w), math.Abs(h))/16) + p.mode() + "/>")
		return
	}
	place := strings.TrimSuffix(p.place(c.N[0], c.N[1], c.N[4], true), `"`)
	if w < 0 || h < 0 {
		place += fmt.Sprintf(" scale(%g %g)", math.Copysign(1, w), math.Copysign(1, h))
	}
	w, h = math.Abs(w), math.Abs(h)
	text := fmt.Sprintf(`<use href="#%s" x="%s" y="%s" width="%s" height="%s"%s"`, name,
		p.n(-w/2), p.n(-h/2), p.n(w), p.n(h), place)
	p.add(text + p.tint(c.Color) + p.mode() + "/>")
}

// tint colors an image.
func (p *pen) tint(c draw.Color) (text string) {
	r, g, b, a := c.Channels()
	if a != 255 {
		text = fmt.Sprintf(` opacity="%s"`, number(float64(a)/255, 3))
	}
	if r&g&b == 255 {
		return text
	}
	part := func(v uint8) string { return number(float64(v)/255, 4) }
	name, err := p.screen.sheet.define(fmt.Sprintf("tint %06x", uint32(c>>8)),
		func(name string) string {
			return fmt.Sprintf(`<filter id="%s" x="0" y="0" width="1" height="1" `+
				`color-interpolation-filters="sRGB"><feColorMatrix values="`+
				`%s 0 0 0 0 0 %s 0 0 0 0 0 %s 0 0 0 0 0 1 0"/></filter>`, name, part(r), part(g),
				part(b))
		})
	p.err = errors.Join(p.err, err)
	return text + fmt.Sprintf(` filter="url(#%s)"`, name)
}

// pixels draws a small image that is part of the list, its top at the top.
func (p *pen) pixels(c *draw.Call) {
	columns, w, h := int(c.ID), c.N[2], c.N[3]
	if columns == 0 || w == 0 || h == 0 {
		return
	}
	rows := len(c.Bytes) / 4 / columns
	img := &image.NRGBA{Pix: c.Bytes, Stride: 4 * columns, Rect: image.Rect(0, 0, columns, rows)}
	p.add(fmt.Sprintf(`<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none"`,
		p.n(-math.Abs(w)/2), p.n(-math.Abs(h)/2), p.n(math.Abs(w)), p.n(math.Abs(h))) +
		p.place(c.N[0]+w/2, c.N[1]+h/2, 0, true) + p.mode() + ` href="` + encoded(img) + `"/>`)
}
