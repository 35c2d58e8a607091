package lab

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/timeline"
)

// Margins are what copies of a title's world compare apart from strict events, within the distance
// given: the fields that are named, such as "Fighter.Pos", of classes and of weak events. If none
// is named they are those that have margins by the title's hints; and for a title that has none,
// the place of the players' body and all places in weak events.
func Margins(t *game.Title, by float64, fields ...string) ([]timeline.Margin, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	var list []timeline.Margin
	for _, f := range fields {
		class, field, ok := strings.Cut(f, ".")
		if !ok {
			return nil, fmt.Errorf("%q is not a field to compare: "+
				"write its class, or event, and its name, such as Tank.Pos", f)
		}
		list = append(list, timeline.Margin{Class: class, Field: field, By: by})
	}
	if len(list) == 0 {
		for _, m := range t.Margins() {
			m.By = by
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		list = t.Places(by)
	}
	return list, timeline.CheckMargins(t.Game, list)
}
