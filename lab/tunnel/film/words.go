package film

import (
	"fmt"
	"math"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// words tell of a window in sentences: what went wrong, where the screens and who decides had it,
// and how far apart in time they were.
func (c *crew) words(w *window) (list []string) {
	for i := range w.list {
		list = append(list, c.tell(w, &w.list[i]))
	}
	if text := c.instant(w); text != "" {
		list = append(list, text)
	}
	return list
}

// tell is one incident in words.
func (c *crew) tell(w *window, i *tunnel.Incident) string {
	at := fmt.Sprintf("At %.3f s", i.At)
	me := player(i.Player)
	with := ""
	if i.What != "" && i.Kind != tunnel.EventTaken {
		with = " with the " + i.What
	}
	switch i.Kind {
	case tunnel.ShownOff:
		return fmt.Sprintf("%s %s's screen, which showed tick %d, %s.%s", at, me, i.Tick,
			c.had(w, i), c.late(w, i))
	case tunnel.Corrected:
		return fmt.Sprintf("%s %s's own body jumped by %s on its screen: it had been shown where "+
			"it was not.", at, me, c.widths(i.Bad))
	case tunnel.HitDenied:
		return fmt.Sprintf("%s %s hit %s%s on its own screen, and it was no hit: at that tick, "+
			"%d, the screen %s.%s", at, me, player(i.Other), with, i.Tick, c.had(w, i),
			c.late(w, i))
	case tunnel.HitUnseen:
		return fmt.Sprintf("%s %s hit %s%s without having seen it: at that tick, %d, its screen "+
			"%s.%s", at, me, player(i.Other), with, i.Tick, c.had(w, i), c.late(w, i))
	case tunnel.DeathCovered:
		return fmt.Sprintf("%s %s was killed by %s%s, after %.0f ms behind cover on its own "+
			"screen.", at, me, player(i.Other), with, i.Bad)
	case tunnel.EventTaken:
		about := ""
		if i.Other != 0 {
			about = " about " + player(i.Other)
		}
		return fmt.Sprintf("%s %s was shown the event %s%s, which never happened; that was known "+
			"%.0f ms later.", at, me, i.What, about, i.Bad)
	case tunnel.StoodStill:
		return fmt.Sprintf("Until %.3f s %s's screen stood still for %.0f ms, at tick %d%s.", i.At,
			me, i.Bad, i.Tick, c.meanwhile(w, i))
	}
	return fmt.Sprintf("%s for %s: %s, %.2f %s.", at, me, i.Kind, i.Bad, i.Kind.EntryOf().Unit)
}

func player(n int) string {
	if n == 0 {
		return "somebody"
	}
	return fmt.Sprint("player ", n)
}

// widths tells a distance.
func (c *crew) widths(bad float64) string {
	if c.body < 0 {
		return fmt.Sprintf("%.2f", bad)
	}
	return fmt.Sprintf("%.2f body widths (%.2f units)", bad, bad*c.subject.Width())
}

// had tells where a screen had somebody, beside where that one truly was at that tick.
func (c *crew) had(w *window, i *tunnel.Incident) string {
	other := player(i.Other)
	shown, is, p := c.compared(w, i)
	switch {
	case p == nil: // it was not filmed
		return fmt.Sprintf("had %s %s from where it truly was", other, c.widths(i.Bad))
	case shown == nil:
		return "did not show " + other
	case is == nil || is.life != shown.life:
		return fmt.Sprintf("had %s where it no longer was", other)
	}
	far := distance(shown, is) / c.subject.Width()
	if far < 0.005 {
		return fmt.Sprintf("had %s where it truly was", other)
	}
	return fmt.Sprintf("had %s %s %s where it truly was", other, c.widths(far),
		c.side(p, shown, is))
}

// compared is where a player's screen had the other in an incident, and where that one truly was at
// the tick of the picture: that of the incident, or if the screen left it out, what it showed then.
func (c *crew) compared(w *window, i *tunnel.Incident) (shown, is *Body, p *picture) {
	v := w.view(i.Player, false)
	if v == nil {
		return nil, nil, nil
	}
	p = v.when(i.Instant())
	for k := range v.pictures {
		if v.pictures[k].tick == i.Tick {
			p = &v.pictures[k]
		}
	}
	if p == nil {
		return nil, nil, nil
	}
	return of(p.bodies, i.Other), of(w.truth[p.tick], i.Other), p
}

// side is in which direction one place is from another, on the screen, where that can be told.
func (c *crew) side(p *picture, from, to *Body) string {
	if !c.marked() {
		return "from"
	}
	lens := p.camera.Lens(pageWidth, pageHeight)
	x0, y0 := lens.At(to.At[0], to.At[1])
	x1, y1 := lens.At(from.At[0], from.At[1])
	dx, dy := x1-x0, y1-y0
	switch {
	case math.Abs(dx) >= math.Abs(dy) && dx < 0:
		return "left of"
	case math.Abs(dx) >= math.Abs(dy):
		return "right of"
	case dy < 0:
		return "above"
	}
	return "below"
}

// late tells how long before somebody truly was where a screen had it, if it ever was.
func (c *crew) late(w *window, i *tunnel.Incident) string {
	shown, is, p := c.compared(w, i)
	if shown == nil || is == nil || is.life != shown.life {
		return ""
	}
	whole := distance(shown, is)
	if whole < c.subject.Width()/20 {
		return ""
	}
	best, ok := c.nearest(w, i.Other, shown, p.tick, whole/4)
	apart := lab.Millis(time.Duration(ticks(best, p.tick)) * c.subject.Game.TickLength())
	switch {
	case !ok:
		return " It never truly was there."
	case best > p.tick:
		return fmt.Sprintf(" It truly was there %.0f ms later, at tick %d.", apart, best)
	}
	return fmt.Sprintf(" It truly had been there %.0f ms earlier, at tick %d.", apart, best)
}

// nearest is the tick, of those at which somebody truly was about where it is shown, that is
// nearest to the one of the picture: it may have come by there several times.
func (c *crew) nearest(w *window, who int, shown *Body, tick world.Tick,
	most float64) (best world.Tick, ok bool) {
	away := func(t world.Tick) float64 {
		if b := of(w.truth[t], who); b != nil && b.life == shown.life {
			return distance(shown, b)
		}
		return math.Inf(1)
	}
	least := math.Inf(1)
	for t := w.low; t <= w.high; t++ {
		least = min(least, away(t))
	}
	if least > most {
		return 0, false
	}
	for t := w.low; t <= w.high; t++ {
		near := away(t) <= max(1.5*least, c.subject.Width()/10)
		if near && t != tick && (!ok || ticks(t, tick) < ticks(best, tick)) {
			best, ok = t, true
		}
	}
	return best, ok
}

func ticks(a, b world.Tick) world.Tick { return max(a, b) - min(a, b) }

// meanwhile tells how far who decides went on while a screen stood still.
func (c *crew) meanwhile(w *window, i *tunnel.Incident) string {
	v := w.view(i.Player, true)
	before := v.when(i.Instant() - time.Duration(i.Bad*float64(time.Millisecond)))
	after := v.when(i.Instant())
	if before == nil || after == nil {
		return ""
	}
	if before.tick == after.tick {
		return fmt.Sprintf("; so did %s, at tick %d", c.nameOf(v), after.tick)
	}
	return fmt.Sprintf(", while %s went on from tick %d to %d", c.nameOf(v), before.tick,
		after.tick)
}

// instant tells which tick everybody had at the instant.
func (c *crew) instant(w *window) string {
	p := w.players[0]
	server, screen := w.view(p, true), w.view(p, false)
	held, shown := server.when(w.at), screen.when(w.at)
	if held == nil || shown == nil {
		return ""
	}
	text := fmt.Sprintf("At that instant %s had come to tick %d", c.nameOf(server), held.tick)
	text += fmt.Sprintf("; %s's screen showed tick %d", player(p), shown.tick)
	length := lab.Millis(c.subject.Game.TickLength())
	switch by := float64(ticks(shown.tick, held.tick)) * length; {
	case shown.tick > held.tick:
		text += fmt.Sprintf(", %.0f ms ahead of that", by)
	case shown.tick < held.tick:
		text += fmt.Sprintf(", %.0f ms behind that", by)
	}
	for _, q := range w.players[1:w.involved] {
		if other := w.view(q, false).when(w.at); other != nil {
			text += fmt.Sprintf(", and %s's tick %d", player(q), other.tick)
		}
	}
	return text + "."
}
