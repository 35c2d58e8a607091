package sprite

import "math"

// A Shape is one of the pictures.
type Shape uint8

// The shapes.
const (
	Disc     Shape = iota // a filled circle
	Glow                  // light that fades outward
	Core                  // the same, with a bright middle
	Ring                  // a thin circle
	Wave                  // a circle that is bright outside and fades inward: a blast
	Streak                // a spark, long from left to right
	Smoke                 // a puff
	Scorch                // what a blast leaves on the floor
	Shadow                // what stands on the floor casts
	Torso                 // a fighter from above: shoulders and arms
	Helmet                // and the head
	Visor                 // the bright slit in it
	Foot                  // one of two
	Blaster               // what fighters hold
	Launcher              //
	RailGun               //
	Rocket                // what flies
	Cross                 // what lies about: health
	Crate                 // ammunition for the launcher
	Battery               // slugs for the rail gun
	Pad                   // the plate that pickups stand on
	Tile                  // a piece of the floor: the shade that is put on its color
	Grate                 // another
	Arrow                 // points to the right
	Sight                 // a crosshair
	Skull                 // for the kill feed
	Shapes                // how many there are
)

// Cell is the side of each picture in pixels.
const Cell = 80

// Pixels paints a shape: rows of Cell pixels from the top left, of red, green, blue and opacity.
func Pixels(s Shape) []byte {
	pix := make([]byte, 4*Cell*Cell)
	for y := range Cell {
		for x := range Cell {
			o := painters[s]((float64(x)+0.5)/Cell*2-1, (float64(y)+0.5)/Cell*2-1)
			v, i := uint8(clamp(o.light)*255+0.5), 4*(y*Cell+x)
			pix[i], pix[i+1], pix[i+2], pix[i+3] = v, v, v, uint8(clamp(o.cover)*255+0.5)
		}
	}
	return pix
}

var painters = [Shapes]func(x, y float64) shade{
	Disc: func(x, y float64) shade { return fill(circle(x, y, 0, 0, 0.96), 1) },
	Glow: func(x, y float64) shade {
		f := clamp(1 - math.Hypot(x, y))
		return shade{1, f * f}
	},
	Core: func(x, y float64) shade {
		r := math.Hypot(x, y)
		f := clamp(1 - r)
		return shade{1, clamp(f*f*f*0.8 + clamp(1-r/0.28))}
	},
	Ring: func(x, y float64) shade { return fill(math.Abs(circle(x, y, 0, 0, 0.88))-0.04, 1) },
	Wave: func(x, y float64) shade {
		r := math.Hypot(x, y)
		return shade{1, clamp((0.97-r)/0.03) * math.Pow(clamp(r/0.97), 5)}
	},
	Streak: func(x, y float64) shade {
		f := clamp(1-math.Abs(y)/0.35) * clamp(1-math.Abs(x))
		return shade{1, f * math.Sqrt(f)}
	},
	Smoke: func(x, y float64) shade {
		f := clamp(1.1 - math.Hypot(x, y) - 0.55*ripple(x, y, 1))
		return shade{0.6 + 0.4*ripple(y, x, 4), clamp(f * 1.6)}
	},
	Scorch: func(x, y float64) shade {
		a := math.Atan2(y, x)
		jag := 0.12*math.Sin(a*7) + 0.08*math.Sin(a*13+1) + 0.05*math.Sin(a*23+2)
		f := clamp(0.8 + jag - math.Hypot(x, y))
		return shade{0, clamp(f * 1.7)}
	},
	Shadow: func(x, y float64) shade {
		f := clamp(1 - math.Hypot(x, y))
		return shade{0, clamp(f * 1.6)}
	},
	Torso: func(x, y float64) shade {
		arms := fill(math.Min(ellipse(x, y, 0.34, -0.4, 0.42, 0.17),
			ellipse(x, y, 0.34, 0.4, 0.42, 0.17)), 0.5)
		pack := bevel(box(x, y, -0.42, 0, 0.2, 0.36, 0.1), x, y, 0.42)
		body := bevel(ellipse(x, y, -0.06, 0, 0.46, 0.66), x, y, 0.82)
		plates := bevel(math.Min(ellipse(x, y, -0.02, -0.56, 0.32, 0.27),
			ellipse(x, y, -0.02, 0.56, 0.32, 0.27)), x, y, 1)
		return plates.over(body.over(pack.over(arms)))
	},
	Helmet: func(x, y float64) shade {
		dome := bevel(ellipse(x, y, 0, 0, 0.88, 0.8), x*1.2, y*1.2, 0.85)
		crest := fill(box(x, y, -0.2, 0, 0.55, 0.09, 0.08), 0.55)
		return crest.over(dome)
	},
	Visor: func(x, y float64) shade {
		f := cut(ellipse(x, y, 0.05, 0, 0.8, 0.72), ellipse(x, y, -0.3, 0, 0.8, 0.9))
		return fill(f, 1)
	},
	Foot: func(x, y float64) shade { return bevel(ellipse(x, y, 0, 0, 0.9, 0.5), x, y, 0.45) },
	Blaster: func(x, y float64) shade {
		barrel := bevel(box(x, y, 0.3, 0, 0.5, 0.1, 0.05), x, y*4, 0.55)
		body := bevel(box(x, y, -0.25, 0, 0.4, 0.22, 0.08), x, y*2, 0.75)
		return body.over(barrel)
	},
	Launcher: func(x, y float64) shade {
		tube := bevel(box(x, y, 0.05, 0, 0.85, 0.26, 0.08), x, y*3, 0.6)
		muzzle := bevel(box(x, y, 0.78, 0, 0.16, 0.34, 0.06), x, y*2, 0.8)
		band := fill(box(x, y, -0.1, 0, 0.06, 0.27, 0.02), 0.3)
		return muzzle.over(band.over(tube))
	},
	RailGun: func(x, y float64) shade {
		rails := bevel(math.Min(box(x, y, 0.25, -0.13, 0.72, 0.06, 0.03),
			box(x, y, 0.25, 0.13, 0.72, 0.06, 0.03)), x, y*4, 0.7)
		coils := fill(math.Min(box(x, y, 0.1, 0, 0.05, 0.22, 0.02),
			box(x, y, 0.45, 0, 0.05, 0.22, 0.02)), 0.95)
		body := bevel(box(x, y, -0.5, 0, 0.35, 0.26, 0.1), x, y*2, 0.65)
		return body.over(coils.over(rails))
	},
	Rocket: func(x, y float64) shade {
		fins := fill(math.Max(box(x, y, -0.6, 0, 0.22, 0.5, 0.02), math.Abs(y)-0.55-0.5*(x+0.6)),
			0.5)
		tube := bevel(box(x, y, -0.05, 0, 0.7, 0.22, 0.1), x, y*4, 0.85)
		nose := bevel(ellipse(x, y, 0.55, 0, 0.4, 0.22), x, y*4, 1)
		return nose.over(tube.over(fins))
	},
	Cross: func(x, y float64) shade {
		plate := bevel(box(x, y, 0, 0, 0.72, 0.72, 0.2), x, y, 0.35)
		cross := fill(math.Min(box(x, y, 0, 0, 0.46, 0.16, 0.04),
			box(x, y, 0, 0, 0.16, 0.46, 0.04)), 1)
		return cross.over(plate)
	},
	Crate: func(x, y float64) shade {
		plate := bevel(box(x, y, 0, 0, 0.74, 0.58, 0.1), x, y, 0.45)
		for i := -1; i <= 1; i++ {
			tip := fill(ellipse(x, y, 0.3, float64(i)*0.3, 0.25, 0.1), 1)
			rod := fill(box(x, y, -0.1, float64(i)*0.3, 0.42, 0.09, 0.03), 0.8)
			plate = tip.over(rod.over(plate))
		}
		return plate
	},
	Battery: func(x, y float64) shade {
		plate := bevel(box(x, y, 0, 0, 0.5, 0.74, 0.12), x, y, 0.4)
		for i := -1; i <= 1; i++ {
			plate = fill(box(x, y, 0, float64(i)*0.38, 0.32, 0.1, 0.06), 1).over(plate)
		}
		return plate
	},
	Pad: func(x, y float64) shade {
		rim := fill(math.Abs(box(x, y, 0, 0, 0.84, 0.84, 0.3))-0.05, 1)
		inner := shade{0.5, 0.4 * fill(box(x, y, 0, 0, 0.8, 0.8, 0.26), 1).cover}
		return rim.over(inner)
	},
	Tile: func(x, y float64) shade {
		d := -math.Max(math.Abs(x), math.Abs(y)) + 1 // to the border of the cell
		v := 0.8 + 0.05*ripple(x*2, y*2, 3)
		v -= 0.3 * clamp(1-d/0.035)
		v += 0.1 * clamp(1-math.Abs(d-0.06)/0.03) * clamp(-x-y+0.5)
		if bolt := circle(math.Abs(x), math.Abs(y), 0.85, 0.85, 0.035); bolt < 0.02 {
			v -= 0.2 * clamp(0.5-bolt/edge)
		}
		return shade{0, 1 - v}
	},
	Grate: func(x, y float64) shade {
		d := -math.Max(math.Abs(x), math.Abs(y)) + 1
		v := 0.75
		if d > 0.12 {
			v = 0.42 + 0.3*clamp(0.5+math.Sin(x*math.Pi*8)*1.2)
		}
		v -= 0.3 * clamp(1-d/0.035)
		return shade{0, 1 - v}
	},
	Arrow: func(x, y float64) shade {
		return fill(math.Max(math.Abs(y)-0.6*(0.7-x),
			math.Max(x-0.8, -x-0.5+0.8*(0.5-math.Abs(y)))), 1)
	},
	Sight: func(x, y float64) shade {
		dot := fill(circle(x, y, 0, 0, 0.07), 1)
		ring := fill(math.Abs(circle(x, y, 0, 0, 0.52))-0.045, 1)
		arms := fill(
			math.Max(math.Min(box(x, y, 0, 0, 0.95, 0.05, 0), box(x, y, 0, 0, 0.05, 0.95, 0)),
				-circle(x, y, 0, 0, 0.62)), 1)
		return dot.over(ring.over(arms))
	},
	Skull: func(x, y float64) shade {
		head := math.Min(circle(x, y, 0, -0.15, 0.62), box(x, y, 0, 0.5, 0.34, 0.3, 0.1))
		eyes := math.Min(circle(x, y, -0.26, -0.1, 0.19), circle(x, y, 0.26, -0.1, 0.19))
		teeth := math.Min(box(x, y, -0.11, 0.68, 0.03, 0.14, 0),
			box(x, y, 0.11, 0.68, 0.03, 0.14, 0))
		return fill(cut(cut(head, eyes), teeth), 1)
	},
}
