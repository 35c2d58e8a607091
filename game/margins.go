package game

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/timeline"
)

// MarginsWith are the title's margins with some of them changed, as users write it: a distance for
// all of them, such as "0.5", or that of one field of a class or a weak event, such as
// "Tank.Pos=0.5", which need not have a margin by the hints. A title that has none by its hints
// gets them for all Places if there is a distance for all. The error says all that is wrong.
func (t *Title) MarginsWith(texts ...string) ([]timeline.Margin, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	list := slices.Clone(t.margins())
	for _, text := range texts {
		name, number, one := strings.Cut(text, "=")
		if !one {
			number = text
		}
		by, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no margin: write a distance for all, such as 0.5, or "+
				"for one field, such as Tank.Pos=0.5", text)
		}
		if !one {
			if len(list) == 0 {
				list = t.Places(by)
			}
			for i := range list {
				list[i].By = by
			}
			continue
		}
		class, field, ok := strings.Cut(strings.TrimSpace(name), ".")
		if !ok {
			return nil, fmt.Errorf("%q is no field to compare: write its class, or weak event, "+
				"and its name, such as Tank.Pos", name)
		}
		m := timeline.Margin{Class: class, Field: field, By: by}
		if i := slices.IndexFunc(list, func(o timeline.Margin) bool {
			return o.Class == m.Class && o.Field == m.Field
		}); i >= 0 {
			list[i] = m
		} else {
			list = append(list, m)
		}
	}
	return list, timeline.CheckMargins(t.Game, list)
}

// Places are margins for where the players' bodies are, and for where weak events happen: what may
// be compared of a title that has no margins by its hints.
func (t *Title) Places(by float64) (list []timeline.Margin) {
	if body, _, ok := t.Body(); ok {
		place, _ := t.Place(body.Number())
		list = append(list, timeline.Margin{Class: body.Name(), Field: place.Path, By: by})
	}
	for _, e := range t.Game.Events() {
		if !e.Weak() {
			continue
		}
		for _, s := range e.Layout().Schema().Slots {
			vector := s.Kind == bits.KindVec2 || s.Kind == bits.KindVec3
			if at := strings.LastIndexByte(s.Name, '.'); vector && s.Part == 0 && at > 0 {
				field := s.Name[:at] // Pos of Pos.X
				list = append(list, timeline.Margin{Class: e.Name(), Field: field, By: by})
			}
		}
	}
	return list
}
