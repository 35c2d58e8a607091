package trace

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// MarshalJSON writes the report for programs. The names stay.
func (r *Report) MarshalJSON() ([]byte, error) {
	type plain Report
	type difference struct {
		Tick   world.Tick `json:"tick"`
		Class  string     `json:"class,omitempty"`
		Entity string     `json:"entity,omitempty"`
		Field  string     `json:"field"`
		A      string     `json:"a"`
		B      string     `json:"b"`
	}
	out := struct {
		*plain
		World *difference `json:"world,omitempty"`
		Why   string      `json:"why,omitempty"`
	}{plain: (*plain)(r)}
	if w := r.World; w != nil {
		out.World = &difference{Tick: w.Tick, Class: w.Class, Field: w.Field, A: w.A, B: w.B}
		if w.Entity != world.None {
			out.World.Entity = w.Entity.String()
		}
	}
	if r.Cause != CauseNone {
		out.Why = r.why()
	}
	return json.Marshal(out)
}

// String says in a few lines what differs and why, for people.
func (r *Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.Cause == CauseNone {
		if r.a.ReadSeeker == nil {
			line("the two worlds of %q at tick %d are the same", r.Game, r.First)
		} else {
			line("the two runs of %q are the same from tick %d to %d", r.Game, r.First, r.Last)
		}
		r.sides(line)
		return b.String()
	}
	line("game      %s", r.Game)
	line("differs   at tick %d", r.Tick)
	if w := r.World; w != nil {
		where := w.Field
		if w.Class != "" {
			where = fmt.Sprintf("%s %v, %s", w.Class, w.Entity, w.Field)
		}
		line("first     %s", where)
		line("  in A    %s", w.A)
		line("  in B    %s", w.B)
		if w.Tick != r.Tick {
			line("          as of tick %d, %s", w.Tick, r.late())
		}
	} else {
		line("first     not known: no state was recorded after it")
	}
	line("why       %s", r.why())
	if d := r.Input; d != nil {
		line("inputs    differ first at tick %d, player %d, %s: %s in A, %s in B", d.Tick, d.Player,
			d.Field, d.A, d.B)
	}
	r.sides(line)
	if len(r.Around) > 0 {
		line("\ncommands around it")
		for _, m := range r.Around {
			line("  tick %d  player %d  %s", m.Tick, m.Player, m.A)
			if m.B != "" {
				line("  %*s  in B: %s", len(fmt.Sprintf("tick %d  player %d", m.Tick, m.Player)),
					"", m.B)
			}
		}
	}
	return b.String()
}

// late says why the entity and field are of a later tick than the first that differs.
func (r *Report) late() string {
	if r.Cause == CauseRules {
		return "the first state after it that can be compared"
	}
	return "the first at which an entity differs; before, only what players commanded does"
}

func (r *Report) sides(line func(string, ...any)) {
	for _, s := range []struct {
		name string
		Side
	}{{"A", r.A}, {"B", r.B}} {
		if s.Build != "" {
			line("%s         recorded by %s", s.name, s.Build)
		}
		if s.Note != "" {
			line("          %s", s.Note)
		}
		if s.Apart > 0 {
			line("          from tick %d on it is not what this program computes", s.Apart)
		}
		if s.Damage != "" {
			line("          %s", s.Damage)
		}
	}
}

// why explains the cause.
func (r *Report) why() string {
	switch r.Cause {
	case CauseStart:
		return "the two runs do not begin with the same world; look at their seeds and settings"
	case CauseInputs:
		return "other things came into the two runs, so they had to come apart; look at how " +
			"inputs reach them"
	case CauseState:
		return "one of the runs went on from a state that it was given"
	case CauseUnknown:
		return "two states alone do not tell; traces of the two runs would"
	}
	a, b := r.A.Apart > 0, r.B.Apart > 0
	text := "from the same world and the same inputs the two machines computed different things; "
	switch {
	case a && b:
		text += "neither did what this program does"
	case a:
		text += "B did what this program does, A did not"
	case b:
		text += "A did what this program does, B did not"
	}
	if r.World == nil || r.World.Tick != r.Tick {
		text += ". The worlds were last known to agree at tick " + fmt.Sprint(r.LastGood) +
			". To see the tick itself, replay the traces each on its own machine with: coeval " +
			"trace replay FILE --record OUT --states 1, and compare the results"
	}
	return text
}

const readmeHead = `Two runs of one game came apart
===============================

%s
What is here
------------

%s
See it again
------------

%s`

var readmeParts = map[string]string{
	"report.json":  "the above, for programs",
	"a.trace":      "the first run, cut to the ticks around the difference",
	"b.trace":      "the second run, likewise",
	"before.state": "the world at the last tick at which both agreed",
	"a.state":      "the first run's world, in which the difference shows",
	"b.state":      "the second run's world",
}

// readme is the text of a bundle.
func (r *Report) readme(files []File) string {
	var list, again strings.Builder
	for _, f := range files {
		if text := readmeParts[f.Name]; text != "" {
			fmt.Fprintf(&list, "  %-13s %s\n", f.Name, text)
		}
	}
	if r.a.ReadSeeker == nil {
		fmt.Fprintf(&again,
			"  coeval desync a.state b.state\n\nneeds a program that knows the game %q with "+
				"declarations %016x.\n", r.Game, r.game.Hash())
		return fmt.Sprintf(readmeHead, r, list.String(), again.String())
	}
	fmt.Fprintf(&again, `  coeval desync a.trace b.trace      the report again
  coeval trace replay a.trace        whether this machine computes what the first one did
  coeval trace replay b.trace        and the second one

The program must know the game %q with declarations %016x. The runs were recorded by
  A  %s
  B  %s

If the machines differ and the rules are at fault, run on each of them
  coeval trace replay a.trace --record here.trace --states 1
and compare the two results with coeval desync: that names the first tick, entity and field.
In your own program, the package trace does the same: Open, Replay, Desync.

The traces hold the secret seed of the match. Give them to no one who still plays it.
`, r.Game, r.game.Hash(), r.A.Build, r.B.Build)
	return fmt.Sprintf(readmeHead, r, list.String(), again.String())
}
