//go:build !js

package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// A witness has a voice among mirrors and no world: with it, either of two mirrors can go on when the other is gone, and both cannot when they only lost each other.
type witness struct {
	flags   *MirrorOptions
	log     *slog.Logger
	link    link.Link
	opt     membership.Options
	start   time.Time
	node    *crimp.Node
	in      bool         // it is in the group
	once    bool         // it was at some time
	well    atomic.Int64 // when it was last driven, as Unix time in milliseconds
	leaveBy time.Duration
	batch   [64]link.Datagram
	out     []link.Datagram
}

// witnessHistory is what mirrors have by default, and coeval mirror always.
const witnessHistory = 2 * time.Second

// witnessGoodbye is how long a witness is given to leave in good order.
const witnessGoodbye = 2 * time.Second

// newWitness opens the socket and gets ready to ask.
func (r *MirrorOptions) newWitness(ctx context.Context, t *game.Title) (*witness, error) {
	o, err := r.options(t)
	if err != nil {
		return nil, err
	}
	w := &witness{flags: r, log: r.Log, start: time.Now()}
	if w.link, err = udp.Listen(r.Mirrors, udp.Options{}); err != nil {
		return nil, fmt.Errorf("for other mirrors: %w (that is --mirrors)", err)
	}
	fail := func(err error) (*witness, error) { return nil, errors.Join(err, w.link.Close()) }
	address, err := knownAs(ctx, "--address", r.Address, w.link.LocalAddr())
	if err == nil && !address.IsValid() {
		err = cli.Usagef("mirrors must be told where the witness is, and --mirrors %s listens on all addresses of this machine: give --address with one at which they reach it, such as --address 203.0.113.7", r.Mirrors)
	}
	var ask []netip.AddrPort
	if err == nil {
		ask, err = r.askWhom(ctx, address)
	}
	if err != nil {
		return fail(err)
	}
	about, err := o.About()
	if err != nil {
		return fail(err)
	}
	w.opt = membership.Options{
		Options: crimp.Options{History: witnessHistory, Datagram: min(1200, w.link.MaxDatagram())}, Card: crimp.Card{Addr: address},
		Protocol: token.ProtocolID("mirrors of " + t.Name()), Keys: o.Keys, Wall: w.start.Unix(), Ask: ask, Witness: true,
		About: about,
	}
	if err := w.join(); err != nil {
		return fail(err)
	}
	return w, nil
}

// join begins to ask to be let in, as someone new.
func (w *witness) join() error {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	_, _ = rand.Read(w.opt.Seed[:])
	var err error
	if w.opt.Identity, err = crimp.NewIdentity(secret); err != nil {
		return err
	}
	m, err := membership.New(w.opt)
	if err != nil {
		return err
	}
	w.in = false
	w.node, err = crimp.NewNode(w.opt.Options, m)
	return err
}

// run takes part until the context ends, and then leaves.
func (w *witness) run(ctx context.Context) error {
	if w.flags.HTTP != "" && w.flags.HTTP != "none" {
		l, err := listenHTTP(w.flags.HTTP, w.link)
		if err != nil {
			return portAdvice(err, "--http")
		}
		web := &http.Server{Handler: http.HandlerFunc(w.health), ReadHeaderTimeout: 10 * time.Second}
		defer web.Close()
		go func() {
			if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				w.log.Error("http has ended", "error", err)
			}
		}()
	}
	w.log.Info("joining as a witness", "asks", fmt.Sprint(w.opt.Ask), "address", w.opt.Card.Addr.String())
	for {
		now := time.Since(w.start)
		w.well.Store(time.Now().UnixMilli())
		switch {
		case ctx.Err() != nil && w.leaveBy == 0:
			w.leaveBy = now + witnessGoodbye
			w.node.Leave(now)
		case w.leaveBy > 0 && (now > w.leaveBy || !w.in):
			w.log.Info("stopped")
			return nil
		case !w.once && !w.flags.Forever && now > w.flags.Patience:
			return w.flags.unanswered(w.opt.Card.Addr)
		}
		if err := w.step(now); err != nil {
			return mirrorAdvice(err)
		}
		if _, err := w.link.Wait(max(min(w.node.Deadline()-now, 20*time.Millisecond), 0)); err != nil {
			return err
		}
	}
}

// step takes what has come, and sends what is due.
func (w *witness) step(now time.Duration) error {
	for {
		n, err := w.link.Receive(w.batch[:])
		if err != nil {
			return err
		}
		w.node.Receive(now, w.batch[:n])
		if err := w.events(); err != nil {
			return err
		}
		if n < len(w.batch) {
			break
		}
	}
	w.node.Tick(now)
	if err := w.events(); err != nil {
		return err
	}
	w.out = w.node.Flush(now, w.out[:0])
	_, err := link.SendAll(w.link, w.out)
	return err
}

func (w *witness) events() error {
	for _, e := range w.node.Events() {
		switch e.Kind {
		case crimp.Established:
			w.in, w.once = true, true
			w.log.Info("witness", "game", w.opt.About.Name, "mirror", int(e.Member), "address", w.opt.Card.Addr.String())
		case crimp.Led:
			w.log.Info("new überserver", "mirror", int(e.Member))
		case crimp.CutOff, crimp.Reunited:
			w.log.Warn(e.Kind.String())
		case crimp.Denied:
			if w.leaveBy == 0 {
				return fmt.Errorf("%w: not let in: %s: %s", mirror.ErrEnded, e.Reason, e.Data)
			}
			w.in = false
		case crimp.Dismissed:
			if w.leaveBy > 0 {
				w.in = false
				continue
			}
			// The game may have ended, or the way to it: whoever founds it anew finds the witness waiting.
			w.log.Warn("joining again", "text", e.Reason.String())
			return w.join()
		}
	}
	return nil
}

// health says whether the witness is being driven.
func (w *witness) health(out http.ResponseWriter, r *http.Request) {
	switch age := time.Since(time.UnixMilli(w.well.Load())); {
	case r.URL.Path != "/healthz":
		http.NotFound(out, r)
	case age > wellWithin:
		http.Error(out, "the witness does not answer", http.StatusServiceUnavailable)
	default:
		_, _ = out.Write([]byte("ok, witness\n"))
	}
}
