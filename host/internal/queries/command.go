//go:build !js

package queries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/query"
)

const long = `Ask a server something without joining it.

ADDRESS is where its players come to, over UDP; the port is 4000 unless it is
given. Every server answers, unless its operator has turned it off:

  info     what it is: game, level, players, name, how to join it
  who      who plays, how far away they are, and for how long they have been there
  ping     how long the way is, measured a few times
  message  takes a text for whoever runs the server (off unless they want it)

A game may answer more, by names of its own, which info lists. Without a name,
info is asked. An answer is never longer than what was sent for it, so that
nobody can have a server flood somebody else.`

const example = `  {program} ask play.example.org
  {program} ask 203.0.113.7:4000 who --json
  {program} ask 203.0.113.7:4000 ping --count 20
  {program} ask 203.0.113.7:4000 message "the second level has no exit"`

// flags are what the command line says.
type flags struct {
	json    bool
	patient time.Duration
	count   int
}

// Command is the command ask.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "ask ADDRESS [info|who|ping|message TEXT|NAME]",
		Short:   "Ask a server what it is, who plays and how far it is, without joining",
		Long:    long,
		Example: example,
		Args:    f.check,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	cli.JSONFlag(cmd, &f.json)
	cmd.Flags().DurationVar(&f.patient, "timeout", 3*time.Second,
		"how long to wait for an answer, asking again meanwhile")
	cmd.Flags().IntVar(&f.count, "count", 8, "with ping, how often, up to 64")
	return cmd
}

func (f *flags) check(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usagef("whom? Give the address of a server, such as localhost:4000")
	case f.patient <= 0 || f.patient > time.Minute:
		return cli.Usagef("--timeout is %v: it must be above zero, up to 1m", f.patient)
	case f.count < 1 || f.count > 64:
		return cli.Usagef("--count is %d: it must be from 1 to 64", f.count)
	case len(args) >= 2 && args[1] == query.Message.String():
		if text := strings.Join(args[2:], " "); text == "" || len(text) > query.MaxMessage ||
			query.Clean(text, query.MaxMessage) != text {
			return cli.Usagef("a message is a line of text of 1 to %d bytes: ask ADDRESS message "+
				"\"TEXT\"", query.MaxMessage)
		}
	case len(args) > 2:
		return cli.Usagef("one thing can be asked at a time, not %q", args[1:])
	case len(args) == 2 && (args[1] == "" || query.Clean(args[1], query.MaxOwn) != args[1]):
		return cli.Usagef("%.40q cannot be the name of a query: they have 1 to %d bytes", args[1],
			query.MaxOwn)
	}
	return nil
}

func (f *flags) run(ctx context.Context, out io.Writer, args []string) error {
	address := args[0]
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "4000")
	}
	a, err := Dial(ctx, address)
	if err != nil {
		return err
	}
	name := query.AskInfo.String()
	if len(args) > 1 {
		name = args[1]
	}
	answer, err := f.ask(ctx, a, name, strings.Join(args[min(len(args), 2):], " "))
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	return cli.Print(out, answer, f.json)
}

// ask asks for what has a name.
func (f *flags) ask(ctx context.Context, a *Asking, name, text string) (fmt.Stringer, error) {
	switch kind, _ := query.ParseKind(name); kind {
	case query.Ping:
		r, err := a.Ping(ctx, query.ProbeOptions{Pings: f.count, Patience: f.patient})
		return pinged{r}, err
	case query.AskWho:
		who, err := a.Who(ctx, f.patient)
		return &who, err
	case query.Message:
		_, took, err := a.Ask(ctx, query.Query{Kind: kind, Text: []byte(text)}, f.patient)
		return told{took}, err
	case query.AskInfo:
		x, took, err := a.Ask(ctx, query.Query{Kind: kind}, f.patient)
		if err != nil {
			return nil, err
		}
		i, ok := query.ParseInfo(x.Body)
		if !ok {
			return nil, errNoSense
		}
		return &informed{InfoOf(i), took.Seconds() * 1000}, nil
	}
	x, _, err := a.Ask(ctx, query.Query{Kind: query.Own, Text: []byte(name)}, f.patient)
	return said{name, x.Body}, err
}

// informed is what info prints.
type informed struct {
	Info
	RoundTrip float64 `json:"round_trip_ms"`
}

func (i *informed) String() string {
	var r cli.Rows
	r.Add("game", "%s", i.Game)
	r.Add("name", "%s", i.Name)
	r.Add("mode", "%s", i.Mode)
	if i.Places > 1 {
		r.Add("places", "%d", i.Places)
	}
	if i.Level != "" {
		r.Add("level", "%s", i.Level)
	}
	r.Add("players", "%d of %d", i.Players, i.Capacity)
	if i.Region != "" {
		r.Add("region", "%s", i.Region)
	}
	if len(i.Tags) > 0 {
		r.Add("tags", "%s", strings.Join(i.Tags, ", "))
	}
	r.Add("version", "%s", i.Version)
	r.Add("joined by", "%s", i.door())
	if i.Paused {
		r.Add("now", "it stands still")
	}
	if i.Draining {
		r.Add("now", "nobody new is let in")
	}
	r.Add("answers", "%s", strings.Join(append(i.Answers, i.Own...), ", "))
	r.Add("round trip", "%.1f ms", i.RoundTrip)
	return r.String()
}

// door is how one gets in.
func (i *informed) door() string {
	switch scheme := map[bool]string{true: "HTTPS"}[i.Secure]; {
	case i.Open && i.HTTP > 0:
		if scheme == "" {
			scheme = "HTTP"
		}
		return fmt.Sprintf("anyone, with a token from %s at port %d", scheme, i.HTTP)
	default:
		return "those who bring a token"
	}
}

// String is who plays, one a line.
func (w *Who) String() string {
	if len(w.Players) == 0 {
		return "nobody is there\n"
	}
	var r cli.Rows
	for _, p := range w.Players {
		var notes []string
		if p.Watches {
			notes = append(notes, "watches")
		}
		if p.Away {
			notes = append(notes, "away")
		} else if p.Ping > 0 {
			notes = append(notes, fmt.Sprintf("%d ms", p.Ping))
		}
		notes = append(notes, "for "+(time.Duration(p.Seconds)*time.Second).String())
		r.Add(strings.ReplaceAll(p.Name, "%", "%%"), "%s", strings.Join(notes, ", "))
	}
	return r.String()
}

// pinged is what ping prints.
type pinged struct{ query.Round }

// MarshalJSON has times in milliseconds. The names are for scripts and stay.
func (p pinged) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return json.Marshal(struct {
		Sent     int     `json:"sent"`
		Answered int     `json:"answered"`
		Loss     float64 `json:"loss"`
		Best     float64 `json:"best_ms"`
		Median   float64 `json:"median_ms"`
		Jitter   float64 `json:"jitter_ms"`
	}{p.Sent, p.Answered, p.Loss(), ms(p.Best), ms(p.Median), ms(p.Jitter)})
}

func (p pinged) String() string {
	return fmt.Sprintf("median %.1f ms, best %.1f ms, jitter %.1f ms; %d of %d answered\n",
		p.Median.Seconds()*1000, p.Best.Seconds()*1000, p.Jitter.Seconds()*1000, p.Answered,
		p.Sent)
}

// told is what message prints.
type told struct{ took time.Duration }

// MarshalJSON says that it was told.
func (told) MarshalJSON() ([]byte, error) { return []byte(`{"told":true}`), nil }

func (told) String() string { return "the server has it\n" }

// said is what a game's own query prints.
type said struct {
	name string
	body []byte
}

// text is the answer as text, if it is some.
func (s said) text() (string, bool) {
	for line := range strings.Lines(string(s.body)) {
		line = strings.TrimSuffix(line, "\n")
		if query.Clean(line, len(line)) != line {
			return "", false
		}
	}
	return string(s.body), true
}

// MarshalJSON has the answer as text, and as bytes in base64 if it is none.
func (s said) MarshalJSON() ([]byte, error) {
	out := map[string]any{"query": s.name}
	if text, ok := s.text(); ok {
		out["text"] = text
	} else {
		out["bytes"] = s.body
	}
	return json.Marshal(out)
}

func (s said) String() string {
	if text, ok := s.text(); ok {
		return strings.TrimSuffix(text, "\n") + "\n"
	}
	return fmt.Sprintf("%x\n", s.body)
}
