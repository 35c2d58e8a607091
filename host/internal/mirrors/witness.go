//go:build !js

package mirrors

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
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// A Witness has a voice among mirrors and no world: with it, either of two mirrors can go on when
// the other is gone, and both cannot when they only lost each other.
type Witness struct {
	log   *slog.Logger
	link  link.Link
	opt   membership.Options
	start time.Time
	node  *crimp.Node
	group *membership.Membership
	in    bool         // it is in the group
	once  bool         // it was at some time
	stops bool         // it leaves, or has left
	vows  *vows        // nil if it remembers nothing
	well  atomic.Int64 // when it was last driven, as Unix time in milliseconds
	batch [64]link.Datagram
	out   []link.Datagram
}

const (
	// witnessHistory is what mirrors have by default, and coeval mirror always.
	witnessHistory = 2 * time.Second
	// witnessGoodbye is how long a witness is given to leave in good order.
	witnessGoodbye = 2 * time.Second
)

// NewWitness makes a witness for mirrors that are made from these options, at an address of its
// own. What it must not forget it leaves with the Keeper, if there is one.
func NewWitness(
	o *mirror.Options, l link.Link, address netip.AddrPort, log *slog.Logger,
) (*Witness, error) {
	about, err := o.About()
	if err != nil {
		return nil, err
	}
	w := &Witness{log: log, link: l, start: time.Now()}
	w.opt = membership.Options{
		Options: crimp.Options{History: witnessHistory, Carry: true,
			Datagram: min(1200, l.MaxDatagram()) - crimp.CarryRoom},
		Silence: mirror.Silence(witnessHistory),
		Card:    crimp.Card{Addr: address}, Witness: true, About: about, Keys: o.Keys, Ask: o.Ask,
		Protocol: token.ProtocolID("mirrors of " + o.Server.Title.Name()), Wall: w.start.Unix(),
	}
	if o.Keeper != nil {
		if w.vows, err = newVows(o.Keeper, &w.opt); err != nil {
			return nil, err
		}
		w.opt.Remember = w.vows.remember
		w.once = w.vows.revival != nil // it waits for the others, however long they take
	}
	return w, w.Join()
}

// In says whether it is in the group.
func (w *Witness) In() bool { return w.in }

// Join begins to ask to be let in, as someone new.
func (w *Witness) Join() error {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	_, _ = rand.Read(w.opt.Seed[:])
	var err error
	if w.opt.Identity, err = crimp.NewIdentity(secret); err != nil {
		return err
	}
	w.opt.Ask = w.vows.whom(w.opt.Ask)
	if w.group, err = membership.New(w.opt); err != nil {
		return err
	}
	w.in = false
	w.node, err = crimp.NewNode(w.opt.Options, w.group)
	return err
}

// witness runs one until the context ends.
func (o *Options) witness(ctx context.Context) (err error) {
	l, err := udp.Listen(o.Mirrors, udp.Options{})
	if err != nil {
		return fmt.Errorf("for other mirrors: %w (that is --mirrors)", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	address, err := o.address(ctx, l)
	if err != nil {
		return err
	}
	if o.Mirror.Ask, err = o.askWhom(ctx, address); err != nil {
		return err
	}
	k, err := o.openVows()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.Close(nil)) }()
	w, err := NewWitness(&o.Mirror, l, address, o.Log)
	if err != nil {
		return err
	}
	var site serve.Site
	if o.HTTP != "" && o.HTTP != "none" {
		if site.Listener, err = serve.ListenHTTP(o.HTTP, l); err != nil {
			return err
		}
		site.WebOptions = o.Web
		if _, err = site.Secure(); err != nil {
			site.Close()
			return err
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/healthz", w.health)
		site.Run(mux, o.Log)
		defer site.Close()
	}
	return w.run(ctx, o)
}

// run takes part until the context ends, and then leaves.
func (w *Witness) run(ctx context.Context, o *Options) error {
	w.log.Info("joining as a witness",
		"asks", fmt.Sprint(w.opt.Ask), "address", w.opt.Card.Addr.String())
	var leaveBy time.Duration
	for {
		now := time.Since(w.start)
		w.well.Store(time.Now().UnixMilli())
		switch {
		case ctx.Err() != nil && !w.stops:
			w.stops, leaveBy = true, now+witnessGoodbye
			w.node.Leave(now)
		case w.stops && (now > leaveBy || !w.in):
			w.log.Info("stopped")
			return nil
		case !w.once && !o.Forever && now > o.Patience:
			return o.unanswered(w.opt.Card.Addr)
		}
		if err := w.Step(now); err != nil {
			return advise(err)
		}
		if _, err := w.link.Wait(max(min(w.node.Deadline()-now, 20*time.Millisecond),
			0)); err != nil {
			return err
		}
	}
}

// Step takes what has come, and sends what is due.
func (w *Witness) Step(now time.Duration) error {
	for {
		n, err := w.link.Receive(w.batch[:])
		if err != nil {
			return err
		}
		w.node.Receive(now, w.vows.hear(now, w.batch[:n]))
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
	if err := w.comeBack(now); err != nil {
		return err
	}
	w.out = w.vows.flush(w.node.Flush(now, w.out[:0]))
	_, err := link.SendAll(w.link, w.out)
	return err
}

// comeBack does what is due for a witness that remembers.
func (w *Witness) comeBack(now time.Duration) error {
	switch needed := w.vows.remembers(now, w.group, w.in); {
	case w.stops:
	case needed:
		w.log.Warn("joining again", "text", "most of the others have died, and those who came "+
			"back need this witness to go on")
		w.vows.returns()
		return w.Join()
	case !w.in && w.vows.unknown(w.opt.Ask):
		return w.Join()
	}
	if text, is := w.vows.news(now, w.in); is {
		w.log.Warn("coming back", "text", text)
	}
	return nil
}

func (w *Witness) events() error {
	for _, e := range w.node.Events() {
		switch e.Kind {
		case crimp.Established:
			w.in, w.once = true, true
			w.log.Info("witness", "game", w.opt.About.Name, "mirror", int(e.Member), "address",
				w.opt.Card.Addr.String())
		case crimp.Led:
			w.log.Info("new überserver", "mirror", int(e.Member))
		case crimp.CutOff:
			w.log.Warn(e.Kind.String(), "absent", w.group.Absent())
		case crimp.Reunited:
			w.log.Warn(e.Kind.String())
		case crimp.Denied:
			if !w.stops {
				return fmt.Errorf("%w: not let in: %s: %s", mirror.ErrEnded, e.Reason, e.Data)
			}
			w.in = false
		case crimp.Dismissed:
			if w.stops {
				w.in = false
				continue
			}
			// The game may have ended, or the way to it: whoever founds it anew finds the witness
			// waiting.
			w.log.Warn("joining again", "text", e.Reason.String())
			w.vows.returns()
			return w.Join()
		}
	}
	return nil
}

// health says whether the witness is being driven.
func (w *Witness) health(out http.ResponseWriter, _ *http.Request) {
	var err error
	if time.Since(time.UnixMilli(w.well.Load())) > serve.WellWithin {
		err = errors.New("the witness does not answer")
	}
	serve.Say(out, "ok, witness", err)
}
