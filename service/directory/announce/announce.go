package announce

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// Options say where and as whom something is announced. URL and Key have no default.
type Options struct {
	// URL is that of the directory, such as https://find.example.org.
	URL string
	// Key is whose entry it is. Mirrors of a group have the same.
	Key ed25519.PrivateKey
	// Client asks the directory. Default: one that trusts whom the system trusts.
	Client *http.Client
	// Log is told what happens. Default: nobody is.
	Log *slog.Logger
}

// A Status is how the game is just now.
type Status struct {
	Level             string
	Players, Capacity int
}

// An Announcer announces one server. A nil one does nothing, as one without a directory.
type Announcer struct {
	opt  Options
	base string
	host string
	id   [directory.IDSize]byte
	seq  int64
	is   directory.Registered // its lease is empty if nothing is registered
	said string               // what went wrong last, so that it is said once

	turn     time.Duration // the number of that in which challenges were answered last
	answered int           // and how many

	results results
}

// How long the directory may take, and how long it is left alone after it has failed.
const (
	askTime     = 10 * time.Second
	goodbyeTime = 2 * time.Second
	firstRetry  = time.Second
	lastRetry   = time.Minute
	mostAnswer  = 64 << 10
)

// New makes an announcer.
func New(o Options) (*Announcer, error) {
	base, err := directory.Base(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	public, ok := o.Key.Public().(ed25519.PublicKey)
	if !ok || len(o.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("an entry at a directory needs a key of Ed25519")
	}
	return &Announcer{opt: o, base: base, id: directory.IDOf(public),
		results: results{wake: make(chan struct{}, 1)}}, nil
}

// ID is that of the entry.
func (a *Announcer) ID() string { return hex.EncodeToString(a.id[:]) }

// Run announces until the context ends, and then says goodbye. Now says how the game is; while it
// gives an error, nothing is said, and the entry is soon gone.
func (a *Announcer) Run(
	ctx context.Context, says directory.Announcement, now func(context.Context) (Status, error),
) {
	if a == nil {
		return
	}
	says.Key = hex.EncodeToString(a.opt.Key.Public().(ed25519.PublicKey))
	says.Directory = a.host
	retry := firstRetry
	asking, stop := outlast(ctx)
	defer stop()
	for ctx.Err() == nil {
		wait, wake := directory.Every, a.results.wake
		if s, err := now(ctx); err != nil {
			wait = firstRetry
		} else if err := a.say(asking, &says, s); err != nil {
			wake = nil
			a.failed(err)
			// Some of it is chance, so that not all come back at once.
			wait = retry/2 + rand.N(retry)
			retry = min(2*retry, lastRetry)
		} else if retry, a.said = firstRetry, ""; a.report(ctx, says.Place) != nil {
			wake = nil // it is tried again when the server next says that it is there
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(wait):
		}
	}
	a.leave(ctx, says.Place)
}

// outlast is a context that ends a little after another. The directory may list a server before the
// server hears of it: what was asked is answered, so that there is a lease to say goodbye with.
func outlast(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-longer.Done():
		case <-time.After(goodbyeTime):
			cancel()
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// failed logs what goes wrong, once.
func (a *Announcer) failed(err error) {
	if text := err.Error(); text != a.said {
		a.said = text
		a.opt.Log.Warn("not listed at the directory; it is tried again", "directory", a.base,
			"error", err)
	}
}

// say says that the server is there, and registers it where the directory does not know it.
func (a *Announcer) say(ctx context.Context, says *directory.Announcement, s Status) error {
	if a.is.Lease != "" {
		err := a.post(ctx, "entries/"+a.is.ID+"/alive", directory.Alive{Lease: a.is.Lease,
			Seq: a.next(), Place: says.Place, Level: s.Level, Players: s.Players,
			Capacity: s.Capacity}, nil)
		var refused *directory.Error
		if err == nil || !errors.As(err, &refused) || refused.Status != http.StatusNotFound &&
			refused.Status != http.StatusConflict {
			return err
		}
		a.is.Lease = "" // it does not know this server any more
	}
	says.Level, says.Players, says.Capacity, says.Seq = s.Level, s.Players, s.Capacity, a.next()
	var is directory.Registered
	if err := a.post(ctx, "entries", says, &is); err != nil {
		return err
	}
	a.is = is
	a.opt.Log.Info("listed at the directory", "directory", a.base, "id", is.ID, "name", says.Name,
		"udp", is.Addresses.UDP, "ws", is.Addresses.WS, "wt", is.Addresses.WT)
	for carrier, why := range is.Unproven {
		a.opt.Log.Warn("not listed by this carrier", "carrier", carrier, "why", why)
	}
	return nil
}

// next numbers requests: by the time, so that a server that begins anew goes on above.
func (a *Announcer) next() int64 {
	a.seq = max(a.seq+1, time.Now().UnixMilli())
	return a.seq
}

func (a *Announcer) leave(ctx context.Context, place string) {
	if a.is.Lease == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTime)
	defer cancel()
	if err := a.report(ctx, place); err != nil {
		a.opt.Log.Warn("results were not reported, and are lost", "error", err)
	}
	if err := a.post(ctx, "entries/"+a.is.ID+"/goodbye", directory.Goodbye{Lease: a.is.Lease,
		Seq: a.next(), Place: place}, nil); err != nil {
		a.opt.Log.Debug("no goodbye to the directory", "error", err)
	}
}

// post asks something that is signed.
func (a *Announcer) post(ctx context.Context, name string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	path := directory.Path + name
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set(directory.SignatureHeader, directory.Sign(a.opt.Key, path, text))
	r, err := a.opt.Client.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		e := &directory.Error{Status: r.StatusCode}
		if json.Unmarshal(answer, e) != nil || e.Message == "" {
			e.Message = fmt.Sprintf("%s answers %s, which no directory does: check its URL", a.base,
				r.Status)
		}
		return e
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
