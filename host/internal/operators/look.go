//go:build !js

package operators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

// table writes rows with columns that stand under each other.
func table(head string, rows func(row func(format string, args ...any))) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	if head != "" {
		fmt.Fprintln(w, head)
	}
	rows(func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) })
	_ = w.Flush() // a builder takes everything
	return out.String()
}

// show is a text from a player as a terminal may have it.
func show(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a &&
			r <= 0x202e {
			return '·'
		}
		return r
	}, text)
}

// An object is an answer whose fields are listed as they are.
type object map[string]any

func (o object) String() string {
	return table("", func(row func(string, ...any)) {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			row("%s\t%s", strings.ReplaceAll(name, "_", " "), show(plainly(o[name])))
		}
	})
}

// plainly is a value of JSON for people.
func plainly(v any) string {
	n, ok := v.(json.Number)
	if !ok {
		return fmt.Sprint(v)
	}
	if f, err := n.Float64(); err == nil && strings.Contains(n.String(), ".") {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return n.String()
}

func getObject(name string) ask {
	return func(ctx context.Context, t Target) (fmt.Stringer, error) {
		var raw []byte
		if err := t.Get(ctx, name, &raw); err != nil {
			return nil, err
		}
		out := object{}
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		return out, d.Decode(&out)
	}
}

type people struct{ admin.People }

func (p people) String() string {
	if len(p.Players) == 0 {
		return "nobody is here\n"
	}
	return table("PLAYER\tNAME\tACCOUNT\tROUND TRIP\tLOSS IN/OUT\tAHEAD\tBUSY\tSENT\tRECEIVED\tADDRESS\t",
		func(row func(string, ...any)) {
			for _, x := range p.Players {
				number := fmt.Sprint(x.Player)
				if x.Kind != "player" {
					number = "watches"
				}
				trip, note := fmt.Sprintf("%.0f ms", x.RoundTrip), ""
				if x.Away {
					trip, note = "-", "away"
				}
				if x.Muted {
					note = strings.TrimSpace(note + " muted")
				}
				row("%s\t%s\t%d\t%s\t%.1f/%.1f %%\t%.1f\t%.1f %%\t%s\t%s\t%s\t%s",
					number, show(x.Name), x.Client, trip, x.LossIn*100, x.LossOut*100, x.Ahead,
					x.Busy*100, bytesOf(x.Sent), bytesOf(x.Received), cmp.Or(x.From, "-"), note)
			}
		})
}

// bytesOf writes a number of bytes for people.
func bytesOf(n uint64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

func getPeople(ctx context.Context, t Target) (fmt.Stringer, error) {
	var p people
	return &p, t.Get(ctx, "players", &p.People)
}

type sanctions struct{ admin.Sanctions }

func (s sanctions) String() string {
	if len(s.Sanctions.Sanctions) == 0 {
		return "nobody is banned or muted\n"
	}
	return listSanctions(s.Sanctions.Sanctions)
}

func listSanctions(list []admin.Sanction) string {
	return table("NUMBER\tKIND\tOF\tNAME\tUNTIL\tBY\tWHY", func(row func(string, ...any)) {
		for _, x := range list {
			of, until := x.Network.String(), "for ever"
			if x.Client != 0 {
				of = fmt.Sprintf("client:%d", x.Client)
			}
			if !x.Until.IsZero() {
				until = x.Until.UTC().Format(time.DateTime)
			}
			row("%d\t%s\t%s\t%s\t%s\t%s\t%s", x.ID, x.Kind, of, cmp.Or(show(x.Name), "-"), until,
				show(x.By), show(x.Why))
		}
	})
}

type auditLog struct{ admin.AuditLog }

func (l auditLog) String() string {
	return table("AT\tWHO\tFROM\tWHAT\tRESULT\tWITH", func(row func(string, ...any)) {
		for _, e := range l.Entries {
			row("%s\t%s\t%s\t%s\t%s\t%s", e.At.UTC().Format(time.DateTime), show(e.Who), e.From,
				e.What,
				show(e.Result), show(string(e.With)))
		}
	})
}

// lookCommands are those that change nothing.
func (o *operator) lookCommands() []*cobra.Command {
	last := 20
	audit := o.command("audit", "List what was done, by whom, and what came of it", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if last < 1 || last > 10_000 {
				return cli.Usagef("--last is %d: it must be from 1 to 10000", last)
			}
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var l auditLog
				return &l, t.Get(ctx, fmt.Sprintf("audit?last=%d", last), &l.AuditLog)
			})
		})
	audit.Flags().IntVar(&last, "last", last, "how many, the newest")
	return []*cobra.Command{
		o.command("status", "Say how the game is", cobra.NoArgs,
			func(cmd *cobra.Command, _ []string) error { return o.each(cmd, getObject("status")) }),
		o.command("players", "List who is there, and how their connections do", cobra.NoArgs,
			func(cmd *cobra.Command, _ []string) error { return o.each(cmd, getPeople) }),
		o.watchCommand(),
		o.command("bans", "List who is banned or muted", cobra.NoArgs,
			func(cmd *cobra.Command, _ []string) error {
				return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
					var s sanctions
					return &s, t.Get(ctx, "bans", &s.Sanctions)
				})
			}),
		audit,
	}
}

// watchCommand shows what goes on until it is interrupted.
func (o *operator) watchCommand() *cobra.Command {
	every, times := time.Second, 0
	cmd := o.command("watch", "Show the game and who is there, as time goes by", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond {
				return cli.Usagef("--every is %v: it must be at least 100ms", every)
			}
			list, err := o.targets(cmd)
			if err != nil {
				return err
			}
			for n := 1; ; n++ {
				if err := o.look(cmd, list); err != nil {
					return err
				}
				if n == times {
					return nil
				}
				select {
				case <-cmd.Context().Done():
					return nil // it is how it ends
				case <-time.After(every):
				}
			}
		})
	cmd.Flags().DurationVar(&every, "every", every, "how often")
	cmd.Flags().IntVar(&times, "times", times, "after how many times to end (default: never)")
	return cmd
}

// look shows how all servers are now. One that does not answer may do so again.
func (o *operator) look(cmd *cobra.Command, list []Target) error {
	ctx := cmd.Context()
	var text strings.Builder
	for _, t := range list {
		status, err := getObject("status")(ctx, t)
		var who fmt.Stringer
		if err == nil {
			who, err = getPeople(ctx, t)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && len(list) == 1:
			return t.Explain(err)
		case o.json:
			out := map[string]any{"server": t.Name, "status": status, "players": who}
			if err != nil {
				out = map[string]any{"server": t.Name, "error": t.Explain(err).Error()}
			}
			_ = json.NewEncoder(&text).Encode(out) // a builder takes everything
		case err != nil:
			fmt.Fprintf(&text, "%s\n%v\n", t.Name, t.Explain(err))
		default:
			fmt.Fprintf(&text, "%s  %s\n%s", t.Name, headline(status.(object)), who)
		}
	}
	out := cmd.OutOrStdout()
	if f, ok := out.(*os.File); ok && !o.json && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(out, "\x1b[H\x1b[J")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// headline is how a game is, in a line.
func headline(s object) string {
	parts := []string{fmt.Sprint(s["game"])}
	for _, name := range []string{"level", "phase", "tick", "players", "spectators", "away",
		"paused", "tick_ms"} {
		if v, ok := s[name]; ok && fmt.Sprint(v) != "" && v != false {
			parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+show(plainly(v)))
		}
	}
	return strings.Join(parts, ", ")
}
