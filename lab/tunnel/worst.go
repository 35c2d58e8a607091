package tunnel

import (
	"fmt"
	"strings"
	"time"
)

// A Worst is the worst incident of a kind that an architecture had in any run.
type Worst struct {
	Arch    string `json:"architecture"`
	Network string `json:"network"`
	Seed    uint64 `json:"seed"`
	Incident
	// Command shows it as a film.
	Command string `json:"command"`
}

// Worst lists the worst incident of each kind, for each architecture, with the command of a program
// that shows it.
func (r *Result) Worst(program string) (list []Worst) {
	for _, e := range r.Architectures {
		of := map[IncidentKind]*Worst{}
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Arch != e.Name {
				continue
			}
			for k := range c.Samples {
				s := &c.Samples[k]
				for _, x := range s.Incidents {
					if old := of[x.Kind]; old == nil || x.Bad > old.Bad {
						of[x.Kind] = &Worst{Arch: c.Arch, Network: c.Field, Seed: s.Seed,
							Incident: x}
					}
				}
			}
		}
		for _, k := range incidentKinds {
			if w := of[k.Kind]; w != nil {
				w.Command = r.command(program, w)
				list = append(list, *w)
			}
		}
	}
	return list
}

// command is what shows an incident as a film.
func (r *Result) command(program string, w *Worst) string {
	text := fmt.Sprintf("%s lab incident --game %s", program, quote(r.Game))
	if r.Level != "" {
		text += " --map " + quote(r.Level)
	}
	text += fmt.Sprintf(" --architecture %s --network %s --players %d --seed %d --time %s --warm %s",
		w.Arch, quote(w.Network), r.Players, w.Seed, seconds(r.Seconds), seconds(r.Warm))
	switch {
	case len(r.Traces) > 0:
		text += " --trace " + quote(strings.Join(r.Traces, ","))
	case r.Open:
		text += fmt.Sprintf(" --open --recorded %d", r.Seed)
	}
	return fmt.Sprintf("%s --kind %s --out %s.html", text, w.Kind, w.Kind)
}

func seconds(s float64) string { return time.Duration(s * float64(time.Second)).String() }

// quote writes a word as shells take it.
func quote(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("+@._=/%-,:", c)
	}
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Tells is an incident in a few words.
func (i *Incident) Tells() string {
	e := i.Kind.EntryOf()
	text := fmt.Sprintf("player %d", i.Player)
	if i.Other != 0 {
		text += fmt.Sprintf(" and player %d", i.Other)
	}
	if i.What != "" {
		text += ", " + i.What
	}
	return fmt.Sprintf("%s: %s %s, %s at %.3f s", e.Name, Short(i.Bad), e.Unit, text, i.At)
}
