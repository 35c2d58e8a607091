//go:build !js

package crimp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
)

// driver runs a node over a link: it gives it time and datagrams, and says what
// happens.
type driver struct {
	p       *program
	cmd     *cobra.Command
	link    link.Link
	node    *crimp.Node
	start   time.Time
	batch   [256]link.Datagram
	out     []link.Datagram
	members int
	begun   bool
	ended   error
	done    bool

	sent     int
	nextSend time.Duration
	leaving  bool
	leaveBy  time.Duration
	// When all was sent: until then others may ask for it.
	stayUntil time.Duration

	report  report
	printed time.Duration
	sum     time.Duration
}

// report is what is printed each second, and at the end. The names are for scripts and
// stay.
type report struct {
	Seconds   float64 `json:"seconds"`
	Member    int     `json:"member"`
	Members   int     `json:"members"`
	Begun     bool    `json:"begun"` // what is sent from now on is delivered here
	Sent      int     `json:"sent"`
	Delivered int     `json:"delivered"`
	GivenUp   int     `json:"given_up"`
	Repaired  uint64  `json:"repaired"`
	Forwarded uint64  `json:"forwarded"`
	Requests  uint64  `json:"requests"`
	Repairs   uint64  `json:"repairs"`
	// by the senders' clocks: right where they agree with ours
	MeanDelay  float64 `json:"mean_delay_ms"`
	Bytes      uint64  `json:"bytes_sent"`
	Congestion float64 `json:"congestion"`
	Trouble    string  `json:"trouble,omitempty"`
	End        bool    `json:"end"`
}

const goodbye = 2 * time.Second

func (d *driver) run() error {
	for !d.done {
		now := time.Since(d.start)
		if !d.leaving && (d.cmd.Context().Err() != nil || d.stayUntil > 0 && now >= d.stayUntil) {
			d.leave(now)
		}
		if d.leaving && now > d.leaveBy {
			break
		}
		if err := d.step(now); err != nil {
			return err
		}
		until := min(d.node.Deadline()-now, 10*time.Millisecond)
		if d.sending() {
			until = min(until, d.nextSend-now)
		}
		if _, err := d.link.Wait(max(until, 0)); err != nil {
			return err
		}
	}
	d.print(time.Since(d.start), true)
	return d.ended
}

// step takes what has come, sends what is due.
func (d *driver) step(now time.Duration) error {
	for {
		n, err := d.link.Receive(d.batch[:])
		if err != nil {
			return err
		}
		d.node.Receive(now, d.keep(d.batch[:n]))
		d.events(now)
		if n < len(d.batch) {
			break
		}
	}
	d.node.Tick(now)
	d.events(now)
	if d.sending() && now >= d.nextSend {
		if err := d.send(now); err != nil {
			return err
		}
	}
	d.out = d.node.Flush(now, d.out[:0])
	if _, err := link.SendAll(d.link, d.out); err != nil {
		return err
	}
	if now-d.printed >= time.Second {
		d.print(now, false)
	}
	return nil
}

// keep throws away the share of datagrams that --lose asks for.
func (d *driver) keep(batch []link.Datagram) []link.Datagram {
	if d.p.lose == 0 {
		return batch
	}
	return slices.DeleteFunc(batch, func(link.Datagram) bool { return rand.Float64() < d.p.lose })
}

// sending is whether there is something of our own to send.
func (d *driver) sending() bool {
	return d.begun && !d.leaving && d.sent < d.p.packets && d.members >= d.p.wait
}

func (d *driver) send(now time.Duration) error {
	message := make([]byte, d.p.size)
	binary.BigEndian.PutUint64(message, uint64(time.Now().UnixNano()))
	_, err := d.node.Send(now, message)
	switch {
	case errors.Is(err, crimp.ErrHolding):
		d.nextSend = now + 10*time.Millisecond
		return nil
	case err != nil:
		return err
	}
	d.sent++
	d.nextSend = max(d.nextSend, now-d.p.period) + d.p.period
	if d.sent == d.p.packets {
		// Others may miss the last ones, and find out only now.
		d.stayUntil = now + d.p.history
	}
	return nil
}

// leave begins to leave.
func (d *driver) leave(now time.Duration) {
	d.leaving, d.leaveBy = true, now+goodbye
	d.node.Leave(now)
}

func (d *driver) events(now time.Duration) {
	for _, e := range d.node.Events() {
		switch e.Kind {
		case crimp.Delivered:
			d.report.Delivered++
			if len(e.Data) >= stampSize {
				d.sum += time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(e.Data))))
			}
		case crimp.GaveUp:
			d.report.GivenUp += 1 + int(e.More)
		case crimp.Joined:
			d.members++
			d.say("member %d is here", e.Member)
		case crimp.Left:
			d.members--
			d.say("member %d is gone: %v", e.Member, e.Reason)
		case crimp.Established:
			d.begun, d.report.Member = true, int(e.Member)
			d.say("this is member %d", e.Member)
		case crimp.StateWanted: // there is none; the newcomer may begin
			_ = d.node.ProvideState(now, e.Member, nil)
		case crimp.CutOff:
			d.say("most members are not heard: nobody can join or be dropped")
		case crimp.Reunited:
			d.say("most members are heard again")
		case crimp.Clash:
			d.say("another machine uses this member's identity: give each its own")
		case crimp.Denied, crimp.Dismissed:
			d.done = true
			if !d.leaving {
				d.ended = fmt.Errorf("%v: %v", e.Kind, e.Reason)
				if len(e.Data) > 0 {
					d.ended = fmt.Errorf("%w: %s", d.ended, e.Data)
				}
				if a := e.Reason.Advice(); a != "" {
					d.ended = fmt.Errorf("%w; %s", d.ended, a)
				}
			}
		}
	}
	if d.p.until > 0 && d.report.Delivered+d.report.GivenUp >= d.p.until && !d.leaving {
		d.leave(now)
	}
}

func (d *driver) say(format string, args ...any) {
	if !d.p.json {
		fmt.Fprintf(d.cmd.OutOrStdout(), format+"\n", args...)
	}
}

// print says how things are.
func (d *driver) print(now time.Duration, end bool) {
	d.printed = now
	r, s := &d.report, d.node.Group().Stats()
	l := d.node.Ledger()
	r.Seconds, r.Members, r.Sent, r.End = now.Seconds(), d.members, d.sent, end
	r.Begun = d.node.Group().Begun()
	r.Repaired, r.Forwarded, r.Requests, r.Repairs = s.Repaired, s.Forwarded, s.Requests, s.Repairs
	r.Bytes, r.Congestion = l.Total(), d.node.Group().Congestion()
	if r.Delivered > 0 {
		r.MeanDelay = float64(d.sum) / float64(r.Delivered) / float64(time.Millisecond)
	}
	r.Trouble = ""
	if err := d.node.Group().Diagnose(); err != nil {
		r.Trouble = err.Error()
	}
	if d.p.json {
		_ = json.NewEncoder(d.cmd.OutOrStdout()).Encode(r)
		return
	}
	fmt.Fprintf(d.cmd.OutOrStdout(),
		"%6.1fs  %d members  sent %d  delivered %d (repaired %d, by fec %d, given up %d)  %.2f "+
			"ms  %d bytes out\n",
		r.Seconds, r.Members, r.Sent, r.Delivered, r.Repaired, r.Forwarded, r.GivenUp, r.MeanDelay,
		r.Bytes)
	if r.Trouble != "" {
		fmt.Fprintln(d.cmd.ErrOrStderr(), r.Trouble)
	}
}
