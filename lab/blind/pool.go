package blind

import (
	"cmp"
	"fmt"
	"slices"
)

// A Paper is a sheet, with the name of the file that it is from.
type Paper struct {
	File string
	*Sheet
}

// A Group is what all persons together answered to the same question about the same two sides.
type Group struct {
	Plan
	// Persons are those whose tests are finished.
	Persons  []Person    `json:"persons"`
	Verdict  Verdict     `json:"verdict"`
	Measured [2]Measured `json:"measured"`
	Words    []string    `json:"words"`
}

// A Person is one whose test is finished.
type Person struct {
	Person string `json:"person" head:"person"`
	File   string `json:"file" head:"file"`
	Trials int    `json:"trials" head:"trials"`
	// Count is how many answers were right, or for the first side.
	Count  int     `json:"count" head:"right"`
	Chance float64 `json:"chance" head:"by chance" as:"%.4f"`
}

// Left is a sheet that does not count, and why.
type Left struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// A Table ranks the sides of several tests.
type Table struct {
	Game      string     `json:"game"`
	Network   string     `json:"network"`
	Strengths []Strength `json:"strengths"`
}

// Results are those of some sheets.
type Results struct {
	Groups []Group `json:"groups"`
	// Tables are there where more than two sides were compared.
	Tables []Table `json:"tables,omitempty"`
	Left   []Left  `json:"left_out,omitempty"`
}

// Pool adds up sheets: those of the same test, whoever took it. A sheet that is not full has no
// part in it, and one that is there twice counts once.
func Pool(papers []Paper) *Results {
	r := &Results{}
	seen := map[uint64]string{}
	groups := map[Plan]*Group{}
	var order []Plan
	for _, p := range papers {
		if file, twice := seen[p.Seed]; twice {
			r.Left = append(r.Left, Left{p.File, "it is the same test as " + file})
			continue
		}
		seen[p.Seed] = p.File
		if !p.Full() {
			r.Left = append(r.Left, Left{p.File, Unfinished(len(p.Answers), p.Trials)})
			continue
		}
		key := p.Plan
		key.Trials = 0
		swapped := key.Sides[0] > key.Sides[1]
		if swapped {
			key.Sides[0], key.Sides[1] = key.Sides[1], key.Sides[0]
		}
		g := groups[key]
		if g == nil {
			g = &Group{Plan: key}
			groups[key] = g
			order = append(order, key)
		}
		g.add(p, swapped)
	}
	for _, key := range order {
		g := groups[key]
		g.sum()
		r.Groups = append(r.Groups, *g)
	}
	r.rank()
	return r
}

func (g *Group) add(p Paper, swapped bool) {
	n, k := len(p.Answers), p.Count()
	if swapped && p.Question == Better {
		k = n - k
	}
	g.Persons = append(g.Persons, Person{Person: p.Person, File: p.File, Trials: n, Count: k,
		Chance: Chance(p.Question, k, n)})
	g.Trials += n
	for side := range g.Measured {
		from := side
		if swapped {
			from = 1 - side
		}
		m := &p.Measured[from]
		g.Measured[side].Add(m.Seconds, m.Figures)
	}
}

func (g *Group) sum() {
	k := 0
	for _, p := range g.Persons {
		k += p.Count
	}
	g.Verdict = Judge(g.Question, k, g.Trials)
	g.Words = g.Verdict.Words(g.Question, g.Sides)
	if n := len(g.Persons); n > 1 {
		g.Words = append(g.Words, g.single(n))
	}
}

// single says whether any of several persons does by themselves what all together may not. As many
// as there are had the chance to be lucky, so each has to be that much less likely (Bonferroni).
func (g *Group) single(n int) string {
	var names []string
	for _, p := range g.Persons {
		if p.Chance*float64(n) <= Alpha {
			names = append(names, cmp.Or(p.Person, p.File))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("None of the %d persons shows a difference alone, as many as they are.",
			n)
	}
	return fmt.Sprintf("Alone, counting that %d tried, these show a difference: %s.", n,
		join(names))
}

func join(names []string) string {
	text := ""
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}

// rank ranks the sides of all tests that asked what is better in the same game and on the same
// network.
func (r *Results) rank() {
	type where struct{ game, network string }
	var order []where
	all := map[where][]*Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Question != Better {
			continue
		}
		w := where{g.Game, g.Network}
		if all[w] == nil {
			order = append(order, w)
		}
		all[w] = append(all[w], g)
	}
	for _, w := range order {
		if len(all[w]) < 2 {
			continue
		}
		if list := rankGroups(all[w]); len(list) > 2 {
			r.Tables = append(r.Tables, Table{w.game, w.network, list})
		}
	}
}

func rankGroups(groups []*Group) []Strength {
	var names []string
	for _, g := range groups {
		for _, s := range g.Sides {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	wins := make([][]int, len(names))
	for i := range wins {
		wins[i] = make([]int, len(names))
	}
	for _, g := range groups {
		a, b := slices.Index(names, g.Sides[0]), slices.Index(names, g.Sides[1])
		wins[a][b] += g.Verdict.Count
		wins[b][a] += g.Verdict.Trials - g.Verdict.Count
	}
	return Rank(names, wins)
}
