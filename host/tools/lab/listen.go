//go:build !js

package lab

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/listenlab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

const listenLong = `Measure the network between two places, and write one that the simulated network
plays again: delays as they came, loss and its bursts, each direction by itself.

One end answers, the other sends probes the size of a game's small packets:

  there$ {program} lab listen --answer :4400
  here$  {program} lab listen --to there.example.net:4400 --out home.net

Then home.net is a network for {program} lab run, alone or with cities. The clocks of
the two need not agree. What cannot be known is how the shortest round trip divides:
each direction is taken to be half of it.`

// listenRun is {program} lab listen.
type listenRun struct {
	answer, to, out string
	time            time.Duration
	rate            int
}

func listenVerb(p *host.Program) *cobra.Command {
	r := new(listenRun)
	return verb.Verb{
		Name: "listen", Short: "Capture a real network, to play it again", Long: listenLong,
		Example: "  {program} lab listen --answer :4400\n" +
			"  {program} lab listen --to there.example.net:4400 --out home.net\n" +
			"  {program} lab run --network home.net",
		Options: []*lab.Option{
			lab.Text(&r.answer, "answer", "", "answer probes at `ADDR`, until it is stopped"),
			lab.Text(&r.to, "to", "", "send probes to `ADDR`"),
			lab.Text(&r.out, "out", "", "write the network to `FILE`, which ends in .net"),
			lab.Number(&r.time, "time", time.Minute, time.Second, 24*time.Hour,
				"how long probes are sent"),
			lab.Number(&r.rate, "rate", 60, 1, 1000, "probes a second"),
		},
		Prepare: r.prepare, Run: r.run,
	}.For(p)
}

func (r *listenRun) prepare(*cobra.Command) error {
	switch {
	case (r.answer == "") == (r.to == ""):
		return cli.Usagef("give --answer at one end, and --to at the other")
	case r.out != "" && !tunnel.IsCapture(r.out):
		return cli.Usagef("--out %s: the name of a network ends in .net", r.out)
	case r.out != "" && r.answer != "":
		return cli.Usagef("--out is for the end that sends probes")
	}
	return nil
}

func (r *listenRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	if r.answer != "" {
		return nil, answer(ctx, r.answer)
	}
	conn, err := net.Dial("udp", r.to)
	if err != nil {
		return nil, cli.Usagef("--to: %w", err)
	}
	defer conn.Close()
	var session [8]byte
	_, _ = rand.Read(session[:]) // it never fails
	l := listenlab.NewListener(binary.BigEndian.Uint64(session[:]),
		time.Second/time.Duration(r.rate))
	if err := probe(ctx, conn, l, r.time, p); err != nil {
		return nil, err
	}
	result, err := l.Result()
	if err != nil {
		return nil, err
	}
	if r.out != "" {
		err = tunnel.WriteFile(r.out, result.File("captured by lab listen"))
	}
	return result, err
}

// answer answers probes until it is stopped.
func answer(ctx context.Context, addr string) error {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return cli.Usagef("--answer: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	fmt.Fprintf(os.Stderr, "answering probes at %v; Ctrl-C ends it\n", conn.LocalAddr())
	a, began := listenlab.NewAnswerer(), time.Now()
	b := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFrom(b)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			continue // of one datagram
		}
		if out := a.Answer(time.Since(began), b[:n]); out != nil {
			_, _ = conn.WriteTo(out, from) // what is not sent is lost, as on the way
		}
	}
}

// probe sends probes for so long, and waits a second for the last answers.
func probe(ctx context.Context, conn net.Conn, l *listenlab.Listener, d time.Duration,
	p lab.Progress) error {
	began := time.Now()
	b := make([]byte, 2048)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := time.Since(began)
		for now >= l.Due() && l.Due() < d {
			_, _ = conn.Write(l.Next(now)) // what is not sent is lost, as on the way
		}
		if now > d+time.Second {
			return nil
		}
		p.Tell(min(float64(now)/float64(d), 1), fmt.Sprintf("%d probes", l.Sent()))
		until := min(l.Due(), now+100*time.Millisecond)
		if l.Due() >= d {
			until = now + 100*time.Millisecond
		}
		if err := conn.SetReadDeadline(began.Add(until)); err != nil {
			return err
		}
		if n, err := conn.Read(b); err == nil {
			l.Take(time.Since(began), b[:n])
		}
	}
}
