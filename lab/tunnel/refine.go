package tunnel

import (
	"context"
	"slices"

	"github.com/coeval-dev/coeval/knob"
)

// closest is how many times a search looks closer.
const closest = 3

// refine goes from a point to its neighbours as long as one is better. Where none is it looks
// closer.
func (t *tuner) refine(ctx context.Context, best *point, kept int) (*point, error) {
	if p, err := t.combined(ctx, best, kept); err != nil {
		return nil, err
	} else if p != nil {
		best = p
	}
	for near := 0; near <= closest; {
		list := []*point{best}
		for _, values := range t.around(best.values, near) {
			if p := t.point(values, "near the best"); p.runs == 0 && p.refused == "" {
				list = append(list, p)
			}
		}
		if len(list) == 1 {
			near++
			continue
		}
		if t.price(list[:2], firstRuns) > t.left(kept) {
			break
		}
		p, err := t.race(ctx, list, kept)
		if err != nil {
			return nil, err
		}
		if p == best {
			near++
		}
		best = p
	}
	return best, nil
}

// combined tries what was best for each knob by itself, all together.
func (t *tuner) combined(ctx context.Context, best *point, kept int) (*point, error) {
	values := t.usual.values
	for i := range t.knobs {
		name := t.knobs[i].Name
		top := t.usual
		for _, level := range t.knobs[i].Levels {
			p := t.points[t.usual.values.With(name, level).String()]
			if p != nil && p.runs >= firstRuns && t.compare(p, top, firstRuns) < 0 {
				top = p
			}
		}
		values = values.With(name, top.values[name])
	}
	p := t.point(values, "the best of each knob")
	if p == best || p.runs > 0 || t.price([]*point{p}, firstRuns) > t.left(kept) {
		return nil, nil
	}
	return t.race(ctx, []*point{best, p}, kept)
}

// around are the neighbours of a choice: one knob by one level to each side, or closer.
func (t *tuner) around(values knob.Values, near int) (list []knob.Values) {
	for i := range t.knobs {
		k := &t.knobs[i]
		for _, to := range neighbours(k, values[k.Name], near) {
			list = append(list, values.With(k.Name, to))
		}
	}
	return list
}

// neighbours are the values of a knob on both sides of one, each time near by half as far.
func neighbours(k *knob.Knob, value string, near int) (list []string) {
	at := slices.Index(k.Levels, value)
	v, err := k.Parse(value)
	for _, side := range []int{-1, 1} {
		to := ""
		switch {
		case at >= 0 && at+side >= 0 && at+side < len(k.Levels):
			to = k.Levels[at+side]
		case at >= 0 || err != nil || v.Auto():
		default:
			to = beside(k, v, side)
		}
		for range near {
			closer, ok := k.Between(value, to)
			if !ok {
				to = ""
				break
			}
			to = closer
		}
		if to != "" && to != value {
			list = append(list, to)
		}
	}
	return list
}

// beside is the level next to a value that is none, below or above it.
func beside(k *knob.Knob, v knob.Value, side int) (best string) {
	nearest := 0.0
	for _, l := range k.Levels {
		x, err := k.Parse(l)
		if err != nil || x.Auto() {
			continue
		}
		by := (x.Number - v.Number) * float64(side)
		if by > 0 && (best == "" || by < nearest) {
			best, nearest = l, by
		}
	}
	return best
}
