//go:build !js

package dis

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/capture"
)

func recordCommand() *cobra.Command {
	var r reach
	cmd := &cobra.Command{
		Use:   "record FILE",
		Short: "Keep what is said in an exercise in a file",
		Long: `Keep every datagram of an exercise in a file, in the form of pcap, which
Wireshark reads, too. Whatever comes is kept, PDU or not.`,
		Example: `  {program} dis record match.pcap
  {program} dis record match.pcap --to 239.1.2.3:3000 --for 10m`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return record(cmd, &r, args[0]) },
	}
	r.flags(cmd)
	return cmd
}

func record(cmd *cobra.Command, r *reach, name string) (err error) {
	n, ctx, end, err := r.join(cmd)
	if err != nil {
		return err
	}
	defer end()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("cannot make the file to record to: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	w, err := capture.NewWriter(buffered)
	if err != nil {
		return err
	}
	datagrams, bytes, flushed := 0, 0, time.Now()
	for ctx.Err() == nil {
		for d, err := range n.Receive(100 * time.Millisecond) {
			if err != nil {
				return err
			}
			if err := w.Write(capture.Datagram{At: time.Now(), From: d.Addr, To: n.To(),
				Data: d.Data}); err != nil {
				return err
			}
			datagrams++
			bytes += len(d.Data)
		}
		if time.Since(flushed) > time.Second { // who looks at the file meanwhile sees whole items
			flushed = time.Now()
			if err := buffered.Flush(); err != nil {
				return err
			}
		}
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d datagrams, %d bytes in %s\n", datagrams, bytes, name)
	return r.over(cmd)
}

// player plays a file.
type player struct {
	reach
	speed   float64
	port    int
	restamp bool
}

func playCommand() *cobra.Command {
	var p player
	cmd := &cobra.Command{
		Use:   "play FILE",
		Short: "Say what is in a file to an exercise, as it was said",
		Long: "Play a file of record, or any capture in the form of pcap, to an exercise: each\n" +
			"datagram at its time.",
		Example: `  {program} dis play match.pcap
  {program} dis play capture.pcap --port 3000 --speed 4 --restamp --to 192.0.2.7:3000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) },
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.Float64Var(&p.speed, "speed", 1, "how many times as fast")
	f.IntVar(&p.port, "port", 0, "only what went to this port; 0: all of the file")
	f.BoolVar(&p.restamp, "restamp", false, "give PDUs the time at which they are played")
	return cmd
}

func (p *player) run(cmd *cobra.Command, name string) error {
	if !(p.speed > 0 && p.speed <= 1e6) {
		return cli.Usagef("--speed %v: choose more than 0", p.speed)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	tape, err := capture.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return err
	}
	if p.Listen == "" {
		p.Listen = ":0" // nothing that comes matters
	}
	n, ctx, end, err := p.join(cmd)
	if err != nil {
		return err
	}
	defer end()
	var first time.Time
	start, sent := time.Now(), 0
	for d, err := range tape.All() {
		if err != nil {
			return err
		}
		if p.port != 0 && int(d.To.Port()) != p.port {
			continue
		}
		if first.IsZero() {
			first = d.At
		}
		due := time.Duration(float64(d.At.Sub(first)) / p.speed)
		select {
		case <-ctx.Done():
		case <-time.After(due - time.Since(start)):
		}
		if ctx.Err() != nil {
			break
		}
		if p.restamp {
			restamp(d.Data, stampNow())
		}
		if err := n.Send(d.Data); err != nil {
			return err
		}
		sent++
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d datagrams to %v, %d in the file were none\n", sent, n.To(),
		tape.Skipped)
	return p.over(cmd)
}

// restamp gives the PDUs of a datagram a time.
func restamp(b []byte, s dis.Stamp) {
	for len(b) > 0 {
		h, err := dis.ReadHeader(b)
		if err != nil {
			return
		}
		binary.BigEndian.PutUint32(b[4:], uint32(s))
		b = b[h.Length:]
	}
}
