package tunnel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Advice is which architecture to choose, in plain words, and what that rests on.
//
// Every axis that players notice has a measure: how much of it makes one unit of annoyance. These
// are round figures of what people notice in a game of action, and not a law: a tenth of a second
// until one's own input is seen, half a body's width by which others are off. What an architecture
// costs is the sum over axes, each group by its weight; authors of other games have other weights.
type Advice struct {
	Weights  map[Group]float64 `json:"weights"`
	Networks []NetworkAdvice   `json:"networks"`
	// Never are architectures that something else beats by far wherever they could be played.
	Never []string `json:"never,omitempty"`
	// Words are the whole of it, a paragraph each.
	Words []string `json:"words"`
}

// NetworkAdvice is the choice for one network.
type NetworkAdvice struct {
	Network string   `json:"network"`
	Choice  string   `json:"choice"`
	Ranks   []Ranked `json:"ranks"` // the best first
	Why     []string `json:"why"`
	Changes []string `json:"changes,omitempty"` // when another would be better
	// Close says that the second is as good, for all that can be told.
	Close string `json:"close,omitempty"`
}

// Ranked is what an architecture costs on a network, in units of annoyance.
type Ranked struct {
	Arch  string            `json:"architecture"`
	Cost  float64           `json:"cost"`
	Half  float64           `json:"cost_interval"` // to each side, at 95 %
	Parts map[Group]float64 `json:"parts"`
}

// measures are how much of an axis is one unit of annoyance.
var measures = []struct {
	key string
	one float64
}{
	{"own_ms", 100}, {"others_ms", 200}, {"still", 2},
	{"off_others_mean", 0.5}, {"off_own_mean", 0.2}, {"events_taken", 5}, {"events_wrong", 5},
	{"jerks", 200}, {"unseen", 5}, {"corrections", 20}, {"commands_late", 2},
	{"hits_denied", 10}, {"hits_unseen", 20}, {"deaths_covered", 10}, {"fairness", 0.4},
	{"client_down", 32000}, {"client_up", 16000}, {"server_out", 16000}, {"group_out", 32000},
	{"client_cpu", 2000}, {"server_cpu", 200},
	{"fault_ms", 2000}, {"fault_others_ms", 500},
}

// Groups lists the groups of axes, and Weights what each counts unless an author says otherwise.
func Groups() []Group {
	return []Group{Responsiveness, Consistency, Fairness, Bandwidth, Processor, Faults}
}

// Weights are what groups count by default.
func Weights() map[Group]float64 {
	return map[Group]float64{Responsiveness: 1, Consistency: 1, Fairness: 1, Bandwidth: 0.5,
		Processor: 0.25, Faults: 0.5}
}

// effort is what it is worth not to have to run servers.
var effort = map[Family]float64{ClientServer: 0.2, Mirrored: 0.4}

// annoyance is that of a figure on an axis.
func annoyance(a Axis, v, one float64, players int) float64 {
	switch {
	case a.Even:
		return math.Abs(math.Log(max(v, 0.01))) / one
	case a.Key == "server_out" || a.Key == "group_out":
		return v / float64(players) / one
	}
	return v / one
}

// cost is what an architecture costs on a network.
func (c *Cell) cost(family Family, weights map[Group]float64) Ranked {
	r := Ranked{Arch: c.Arch, Parts: map[Group]float64{}, Cost: effort[family]}
	squares := 0.0
	for _, m := range measures {
		a, _ := AxisOf(m.key)
		f, ok := c.Figures[m.key]
		if !ok {
			continue
		}
		w := weights[a.Group]
		part := w * annoyance(a, f.Mean, m.one, c.Players)
		r.Parts[a.Group] += part
		r.Cost += part
		if f.N > 1 {
			half := w * math.Abs(annoyance(a, f.High, m.one, c.Players)-
				annoyance(a, f.Low, m.one, c.Players)) / 2
			squares += half * half
		}
	}
	r.Half = math.Sqrt(squares)
	return r
}

// ranks are the architectures on a network, the best first.
func (r *Result) ranks(network string, weights map[Group]float64) (list []Ranked) {
	for _, e := range r.Architectures {
		if c := r.Cell(e.Name, network); c != nil && c.Refused == "" && len(c.Samples) > 0 &&
			e.Family != Alone {
			list = append(list, c.cost(e.Family, weights))
		}
	}
	slices.SortStableFunc(list, func(a, b Ranked) int { return cmp.Compare(a.Cost, b.Cost) })
	return list
}

// Advise says which architecture to choose where. Weights that are missing are the usual ones.
func (r *Result) Advise(weights map[Group]float64) *Advice {
	all := Weights()
	maps.Copy(all, weights)
	a := &Advice{Weights: all}
	worst := map[string]float64{} // by how much each is worse than the best, where it does best
	for _, n := range r.Networks {
		ranks := r.ranks(n.Name, all)
		if len(ranks) == 0 {
			continue
		}
		x := NetworkAdvice{Network: n.Name, Choice: ranks[0].Arch, Ranks: ranks}
		x.Why = r.why(n.Name, ranks)
		if len(ranks) > 1 {
			if second := ranks[1]; second.Cost-ranks[0].Cost < math.Hypot(second.Half,
				ranks[0].Half) {
				x.Close = second.Arch
			}
		}
		x.Changes = r.changes(n.Name, ranks[0].Arch, all)
		a.Networks = append(a.Networks, x)
		for _, k := range ranks {
			ratio := k.Cost / max(ranks[0].Cost, 0.1)
			if old, ok := worst[k.Arch]; !ok || ratio < old {
				worst[k.Arch] = ratio
			}
		}
	}
	for _, e := range r.Architectures {
		if worst[e.Name] > 3 {
			a.Never = append(a.Never, e.Name)
		}
	}
	a.Words = r.words(a)
	return a
}

// why says on which axes the choice is better than the next of another family, and on which worse.
func (r *Result) why(network string, ranks []Ranked) (list []string) {
	best := r.Cell(ranks[0].Arch, network)
	family := r.family(ranks[0].Arch)
	for _, other := range ranks[1:] {
		if r.family(other.Arch) == family && len(ranks) > 2 && other.Arch != ranks[1].Arch {
			continue
		}
		c := r.Cell(other.Arch, network)
		better, worse := r.differences(best, c)
		text := ""
		if len(better) > 0 {
			text = "beside " + other.Arch + " it is better in " + strings.Join(better, ", ")
		}
		if len(worse) > 0 {
			if text == "" {
				text = "beside " + other.Arch + " it is worse in "
			} else {
				text += ", and worse in "
			}
			text += strings.Join(worse, ", ")
		}
		if text != "" {
			list = append(list, text)
		}
		if len(list) == 2 {
			break
		}
	}
	return list
}

// differences are the axes on which two cells differ most, in words: those on which the first is
// better, and those on which it is worse.
func (r *Result) differences(a, b *Cell) (better, worse []string) {
	type gap struct {
		text string
		by   float64
	}
	var list []gap
	for _, m := range measures {
		axis, _ := AxisOf(m.key)
		x, ok := a.Figures[m.key]
		y, known := b.Figures[m.key]
		if !ok || !known || axis.Machine || y.Low <= x.High && x.Low <= y.High {
			continue
		}
		by := annoyance(axis, y.Mean, m.one, a.Players) - annoyance(axis, x.Mean, m.one, a.Players)
		if math.Abs(by) > 0.05 {
			list = append(list, gap{fmt.Sprintf("%q (%s against %s %s", axis.Head, Short(x.Mean),
				Short(y.Mean), axis.Unit), by})
		}
	}
	slices.SortStableFunc(list, func(a, b gap) int {
		return cmp.Compare(math.Abs(b.by), math.Abs(a.by))
	})
	for _, g := range list {
		text := strings.TrimSpace(g.text) + ")"
		if g.by > 0 && len(better) < 3 {
			better = append(better, text)
		} else if g.by < 0 && len(worse) < 2 {
			worse = append(worse, text)
		}
	}
	return better, worse
}

func (r *Result) family(arch string) Family {
	for _, e := range r.Architectures {
		if e.Name == arch {
			return e.Family
		}
	}
	return ""
}

// changes finds out by which other weights the choice would be another.
func (r *Result) changes(network, choice string, weights map[Group]float64) (list []string) {
	var names []string
	by := map[string][]string{}
	for _, f := range []struct {
		by   float64
		text string
	}{{4, "counts four times as much"}, {0.25, "counts a quarter"}} {
		more := map[string][]string{}
		for _, g := range Groups() {
			w := maps.Clone(weights)
			w[g] *= f.by
			ranks := r.ranks(network, w)
			if name := ranks[0].Arch; name != choice {
				if by[name] == nil && more[name] == nil {
					names = append(names, name)
				}
				more[name] = append(more[name], string(g))
			}
		}
		for name, groups := range more {
			by[name] = append(by[name], "if "+either(groups)+" "+f.text)
		}
	}
	for _, name := range names {
		list = append(list, name+" "+strings.Join(by[name], " or "))
	}
	return list
}

func either(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// words are the advice as a person would give it.
func (r *Result) words(a *Advice) (list []string) {
	if len(a.Networks) == 0 {
		return []string{"There is nothing to choose of: nothing was measured that several " +
			"machines could play."}
	}
	by := map[string][]string{}
	var order []string
	for _, n := range a.Networks {
		if by[n.Choice] == nil {
			order = append(order, n.Choice)
		}
		by[n.Choice] = append(by[n.Choice], n.Network)
	}
	for _, name := range order {
		list = append(list, fmt.Sprintf("For %s with %d players on %s: %s (%s).", r.Game, r.Players,
			and(by[name]), name, r.about(name)))
	}
	for _, n := range a.Networks {
		text := fmt.Sprintf("On %s %s costs %s.", n.Network, n.Choice, Short(n.Ranks[0].Cost))
		for _, w := range n.Why {
			text += " " + strings.ToUpper(w[:1]) + w[1:] + "."
		}
		if n.Close != "" {
			text += fmt.Sprintf(" By these runs %s may be as good.", n.Close)
		}
		if len(n.Changes) > 0 {
			text += " It would be " + strings.Join(n.Changes, "; ") + "."
		}
		list = append(list, text)
	}
	if len(a.Never) > 0 {
		list = append(list, fmt.Sprintf("Never %s: something else costs a third of it, or less, on "+
			"every network here.", and(a.Never)))
	}
	if slices.ContainsFunc(a.Networks, func(n NetworkAdvice) bool {
		return r.family(n.Choice) == BetweenPeers
	}) {
		list = append(list, "Between peers every machine knows the whole world: a changed program "+
			"can show all of it. Where that matters take the best of the rest.")
	}
	return list
}

func (r *Result) about(arch string) string {
	for _, e := range r.Architectures {
		if e.Name == arch {
			return e.About
		}
	}
	return ""
}

func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
