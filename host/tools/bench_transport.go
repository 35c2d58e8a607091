//go:build !js

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const benchTransportLong = `Measure what it costs a server to receive a message and send it back.

A server and its clients run in processes of their own on this machine's
loopback, encryption on. Each client has a socket of its own and sends a message
with each tick, spread evenly over all of it but the moment at which the server
looks; the server drains its socket at each tick,
as a game does, and sends every message back. The server's processor time alone
counts, user and system, and only while it is measured.

Each round also measures the floor: the same traffic over a bare batched socket
that sends back what comes, without a connection. The kinds take turns every
second. Figures are medians over the rounds, "x floor" is the one against the
other. On a busy machine the ratio says more than the times.

"header" is all bytes sent beyond the message, IP and UDP not counted. Messages
that come back are compared with what was sent.

With --saturate clients send again as soon as a message is back and the server
never rests, to see the most that one core can do. "busy" is the share of time in
which it did run: if that is far below 1, the clients were slower than the server.`

const benchTransportExample = `  {program} bench transport
  {program} bench transport --clients 512 --rounds 5 --json
  {program} bench transport --saturate --seconds 2
  {program} bench transport --kind reliable --profile server.pprof`

type benchTransport struct {
	options lab.TransportOptions
	seconds float64
	json    bool
}

func benchTransportCommand() *cobra.Command {
	var b benchTransport
	cmd := &cobra.Command{
		Use:     "transport",
		Short:   "Server time, allocations and bytes of a message, against a bare socket",
		Long:    benchTransportLong,
		Example: benchTransportExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	o := &b.options
	f := cmd.Flags()
	f.IntVar(&o.Clients, "clients", 256, "how many clients there are")
	f.IntVar(&o.Rate, "rate", 60, "messages a second of each client, and ticks of the server")
	f.IntVar(&o.Size, "size", 100, "bytes of a message")
	f.Float64Var(&b.seconds, "seconds", 5, "how long each measurement lasts")
	f.IntVar(&o.Rounds, "rounds", 3, "how often everything is measured")
	f.StringSliceVar(&o.Kinds, "kind", nil, "only these: "+strings.Join(lab.TransportKinds(), ","))
	f.BoolVar(&o.Saturate, "saturate", false, "the most that one core can do")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "loopback `ADDR` and port of the server; port 0 is any that is free")
	f.StringVar(&o.Profile, "profile", "", "write a CPU profile of the server to `FILE`, its samples labelled with the kind; costs some accuracy")
	f.BoolVar(&b.json, "json", false, "print one JSON object for each kind of message, one a line")
	if err := cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(lab.TransportKinds(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // only if the flag did not exist
	}
	cmd.AddCommand(transportPartCommand())
	return cmd
}

// transportPartCommand is what the measuring process runs the program as, a second and a
// third time.
func transportPartCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "part ROLE",
		Short:  "One of the processes of {program} bench transport",
		Long:   "One of the processes of {program} bench transport, which starts it and talks to it.",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return lab.TransportPart(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func (b *benchTransport) run(cmd *cobra.Command) error {
	o := b.options
	if !(b.seconds > 0 && b.seconds <= math.MaxInt32) {
		return cli.Usagef("--seconds is %v: it must be above zero", b.seconds)
	}
	o.Window = time.Duration(b.seconds * float64(time.Second))
	for name, v := range map[string]int{"clients": o.Clients, "rate": o.Rate, "size": o.Size, "rounds": o.Rounds} {
		if v == 0 {
			return cli.Usagef("--%s is 0: it must be above zero", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, to start it again: %w", err)
	}
	if o.Profile != "" {
		if o.Profile, err = filepath.Abs(o.Profile); err != nil {
			return err
		}
	}
	o.Command = func(role string) *exec.Cmd { return exec.Command(self, "bench", "transport", "part", role) }
	if err := o.Fill(); err != nil {
		return cli.Usagef("%w", err)
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	o.Progress = bar.Show
	results, err := lab.Transport(cmd.Context(), o)
	if err != nil {
		return err
	}
	bar.Clear()
	if b.json {
		enc := json.NewEncoder(cmd.OutOrStdout())
		for i := range results {
			if err := enc.Encode(&results[i]); err != nil {
				return err
			}
		}
	} else if err := printTransport(cmd.OutOrStdout(), results); err != nil {
		return err
	}
	var wrong []error
	for i := range results {
		wrong = append(wrong, results[i].Check())
	}
	return errors.Join(wrong...)
}

func printTransport(out io.Writer, results []lab.TransportResult) error {
	rows := [][]string{
		{"", "µs per", "floor", "", "allocs", "header", "packets", "", ""},
		{"kind", "message", "µs", "x floor", "/message", "bytes", "/message", "offered", "delivered"},
	}
	number := func(digits int, v float64) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	for _, r := range results {
		row := []string{r.Kind, number(2, r.PerMessage), number(2, r.FloorPerMessage), number(2, r.Ratio),
			number(3, r.Allocs), number(1, r.HeaderBytes), number(3, r.Packets),
			strconv.FormatUint(r.Offered, 10), strconv.FormatUint(r.Delivered, 10)}
		if s := r.Saturation; s != nil {
			row = append(row, number(0, s.MostPerSecond), number(0, s.FloorMostPerSecond), number(0, s.EchoedPerSecond), number(2, s.Busy))
		}
		rows = append(rows, row)
	}
	if len(results) > 0 && results[0].Saturation != nil {
		rows[0] = append(rows[0], "most/s", "floor", "echoed", "")
		rows[1] = append(rows[1], "one core", "most/s", "/s", "busy")
	}
	if len(results) > 0 {
		r := results[0]
		load := fmt.Sprintf("%d messages of %d bytes a second each", r.Rate, r.Size)
		if r.Saturation != nil {
			load = fmt.Sprintf("as many messages of %d bytes as one core can take", r.Size)
		}
		if _, err := fmt.Fprintf(out, "%d clients, %s, encrypted; medians of %d rounds\n", r.Clients, load, len(r.Rounds)); err != nil {
			return err
		}
	}
	return printColumns(out, rows, 1)
}
