package paperlab

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel/mirrored"
)

// events is the event-based protocol in the paper's form beside ours, and beside commands.
func events(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	const players = 6
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return nil, err
	}
	f := &Finding{Game: fmt.Sprintf("%s, three mirrors of two bots each", s.Name()),
		Seeds: o.seeds()}
	forms := []struct {
		name string
		mirrored.Form
	}{
		{"commands, trailing states", mirrored.Form{Kind: "trailing"}},
		{"events, ours (ruled)", mirrored.Form{Kind: "ruled"}},
		{"events, the paper's channels (mirrors-events-exact)",
			mirrored.Form{Kind: "ruled", Exact: true}},
	}
	networks := []struct{ name, about string }{
		{"atlantic", "homes on both sides of the Atlantic"},
		{"wifi@atlantic", "the same, wireless: jitter and loss"},
	}
	for k, n := range networks {
		t := Table{Title: "Section 3.3.4, " + n.about, Keys: 1,
			Heads: []string{"protocol", "published", "between mirrors, B/s",
				"others off, widths, mean", "p95", "events taken back, %", "events that differ, %",
				"commands late, %", "others' input, ms", "rollbacks/s"}}
		for i, form := range forms {
			share := 1 / float64(len(forms)*len(networks))
			r, err := playMirrors(ctx, o, p.Within(float64(k*len(forms)+i)*share, share),
				form.name, form.Form, n.name, players)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", form.name, n.name, err)
			}
			published := "not built"
			if i == 0 {
				published = "built"
			}
			row := []string{form.name, published}
			for _, key := range []struct {
				name   string
				digits int
			}{{"group_out", 0}, {"off_others_mean", 3}, {"off_others_p95", 2}, {"events_taken", 1},
				{"events_wrong", 1}, {"commands_late", 1}, {"others_ms", 0}, {"rollbacks", 1}} {
				row = append(row, interval(pick(r.samples, key.name), key.digits))
			}
			t.Rows = append(t.Rows, row)
			if form.Exact {
				told(f, r)
			}
		}
		f.Tables = append(f.Tables, t)
	}
	f.differs("The paper describes the event-based protocol and did not build it; so there are no " +
		"published figures. It expected it to be the better one.")
	f.differs("In the paper's form here there are its three channels: moves once and unreliably " +
		"to the other mirrors, and reliably to the überserver alone; fires and their " +
		"consequences from the überserver reliably, each event with all of its fields; and moves " +
		"are never compared.")
	f.differs("What is still ours: titles have no handlers by which an event changes a world, so " +
		"the überserver's rulings still bring what it executed, and the events are compared with " +
		"what comes of them. An überserver that told of events alone would send less, and its " +
		"mirrors' worlds would be the same only about.")
	f.differs("Events take more bytes between mirrors than commands: every move goes to everybody " +
		"and once more to the überserver, whose word comes on top. Ours repeats moves in four " +
		"packets, which the paper's form spares.")
	f.differs("What is shown is further off, and more of it is taken back: a mirror learns what " +
		"counts when the überserver has waited for everybody and told it, where with trailing " +
		"states a command counts as soon as it has come. There are fewer rollbacks, as late moves " +
		"are not repaired one by one.")
	return f, nil
}

// told holds what the überserver told of events against what came of its rulings.
func told(f *Finding, r *mirrorRun) {
	for i, list := range r.stats {
		var told, untold uint64
		for _, s := range list {
			told, untold = told+s.Told, untold+s.Untold
		}
		f.expect(told > 0, "seed %d: the überserver told of no event", f.Seeds[i])
		// those that were told before a mirror had joined
		f.expect(untold*50 <= told, "seed %d: %d events came of rulings and were not told, of %d",
			f.Seeds[i], untold, told)
	}
}
