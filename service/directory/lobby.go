package directory

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// LobbyOptions are what a lobby is made from. Scorer has no default.
type LobbyOptions struct {
	Scorer Scorer
	// Rule is the rule of a game's queue, or nil. Default: what lobby.Use was given.
	Rule func(game string) lobby.Matcher
	// Starter starts servers where none has room. It may be nil.
	Starter Starter
	// StartTime is how long a server that was started may take to be listed. Default: 30 s.
	StartTime time.Duration
	// Log is told what goes wrong. Default: nobody is.
	Log *slog.Logger
}

// A Lobby has players gather in rooms and queues, sends them to servers, and counts results. Its
// methods may be called by any goroutine. Run has to run.
type Lobby struct {
	opt    LobbyOptions
	api    *API
	secret []byte
	codes  limits // of those who name rooms that there are not
	makes  limits

	mu      sync.Mutex
	core    *lobby.Lobby
	holds   lobby.Holds
	streams map[uint64]map[*stream]bool
	tags    map[string]bool // of servers that are being started
	closed  bool
	placing sync.WaitGroup
	stop    context.CancelFunc // of what is being started
	ctx     context.Context
}

// A stream is told what is new for somebody. It is closed if it is too slow.
type stream struct{ queue chan []byte }

// streamRoom is how much may wait for a stream.
const streamRoom = 64

// AddLobby adds a lobby to an API.
func (a *API) AddLobby(ctx context.Context, o LobbyOptions) (*Lobby, error) {
	secret, err := o.Scorer.Secret(ctx, "lobby", sha256.Size)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.StartTime == 0 {
		o.StartTime = 30 * time.Second
	}
	l := &Lobby{opt: o, api: a, secret: secret, streams: map[uint64]map[*stream]bool{},
		tags: map[string]bool{}, codes: limits{rate: 0.2, burst: 10},
		makes: limits{rate: 0.2, burst: 20}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.core = lobby.New(lobby.Options{Random: random, Rule: o.Rule, Regions: a.Book.regions})
	a.Lobby = l
	return l, nil
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// forgetEvery is how often results are forgotten that are too old to be reported again.
const forgetEvery = time.Hour

// Run takes out those who are silent and groups those who wait, until the context ends.
func (l *Lobby) Run(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	forgotten := time.Duration(-forgetEvery)
	for ctx.Err() == nil {
		l.Tick()
		if now := l.api.Book.opt.Now(); now-forgotten >= forgetEvery {
			forgotten = now
			before := l.api.Book.opt.Wall() - int64(resultsFor/time.Second)
			if err := l.opt.Scorer.Forget(ctx, before); err != nil && ctx.Err() == nil {
				l.opt.Log.Warn("old results are kept for longer", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	l.close()
}

// Tick does what is due.
func (l *Lobby) Tick() {
	l.mu.Lock()
	now := l.api.Book.opt.Now()
	l.core.Tick(now)
	l.holds.Tick(now)
	l.deliver()
	orders := l.core.Orders()
	l.mu.Unlock()
	for i := range orders {
		l.order(&orders[i])
	}
}

// close ends all streams, and waits for what is being started.
func (l *Lobby) close() {
	l.stop()
	l.mu.Lock()
	l.closed = true
	for client, all := range l.streams {
		for s := range all {
			close(s.queue)
		}
		delete(l.streams, client)
	}
	l.mu.Unlock()
	l.placing.Wait()
}

// deliver tells people what is new. The lobby is held.
func (l *Lobby) deliver() {
	for _, c := range l.core.Changes() {
		var text []byte
		for _, to := range c.To {
			for s := range l.streams[to] {
				if text == nil {
					text = eventText(c.Data)
				}
				select {
				case s.queue <- text:
				default: // it is too slow, and begins anew
					close(s.queue)
					l.forgetStream(to, s)
				}
			}
		}
	}
}

func (l *Lobby) forgetStream(client uint64, s *stream) {
	delete(l.streams[client], s)
	if len(l.streams[client]) == 0 {
		delete(l.streams, client)
	}
}

// eventText writes an event.
func eventText(data any) []byte {
	name := "begin"
	switch data.(type) {
	case *lobby.Room:
		name = "room"
	case lobby.Line:
		name = "chat"
	case lobby.Queued:
		name = "queue"
	case lobby.Start:
		name = "start"
	case lobby.Out:
		name = "out"
	}
	text, _ := json.Marshal(data) // it has nothing that cannot be written
	out := append([]byte("event: "+name+"\ndata: "), text...)
	return append(out, '\n', '\n')
}

// LobbyStats are numbers of a lobby.
type LobbyStats struct {
	lobby.Counts
	Rooms, People, Waiting, Streams int
}

// Stats gives the numbers.
func (l *Lobby) Stats() (s LobbyStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Counts = l.core.Counts()
	s.Rooms, s.People, s.Waiting = l.core.Size()
	for _, all := range l.streams {
		s.Streams += len(all)
	}
	return s
}

// An AnonymousAccount is one of somebody who has none elsewhere.
type AnonymousAccount struct {
	Client uint64 `json:"client,string"`
	// Secret is what the account is known by: "Authorization: Bearer SECRET".
	Secret string `json:"secret"`
}

// An anonymous secret is secretMark and then, in base64, 16 bytes that are drawn and the begin of
// their HMAC: so the directory remembers none, and nobody makes one up.
const (
	secretMark = "anon."
	secretHalf = 16
)

func (l *Lobby) mac(what string, drawn []byte) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write(append([]byte(what+"\n"), drawn...))
	return m.Sum(nil)
}

// newAccount draws an account.
func (l *Lobby) newAccount() (out AnonymousAccount) {
	b := make([]byte, secretHalf)
	_, _ = rand.Read(b) // it never fails
	out.Client = l.clientOf(b)
	b = append(b, l.mac("account", b)[:secretHalf]...)
	out.Secret = secretMark + base64.RawURLEncoding.EncodeToString(b)
	return out
}

func (l *Lobby) clientOf(drawn []byte) uint64 {
	return max(binary.BigEndian.Uint64(l.mac("client", drawn)), 1)
}

// anonymous finds whose secret it is.
func (l *Lobby) anonymous(secret string) (client uint64, ok bool) {
	text, ok := strings.CutPrefix(secret, secretMark)
	if !ok || len(text) > 64 {
		return 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 2*secretHalf ||
		!hmac.Equal(b[secretHalf:], l.mac("account", b[:secretHalf])[:secretHalf]) {
		return 0, false
	}
	return l.clientOf(b[:secretHalf]), true
}

// lobby is the lobby, if there is one.
func (a *API) lobby() (*Lobby, error) {
	if a.Lobby == nil {
		return nil, refuse(http.StatusNotFound, "no_lobby",
			errors.New("this directory has no lobby"))
	}
	return a.Lobby, nil
}

// member finds out who asks something of the lobby: not banned, and by an account.
func (a *API) member(c *call) (l *Lobby, w lobby.Who, err error) {
	if l, err = a.lobby(); err != nil {
		return nil, w, err
	}
	who, err := a.who(c)
	if err == nil && who.passing {
		err = refuse(http.StatusUnauthorized, "account", errors.New("say who you are by "+
			"Authorization: Bearer, with a secret from POST "+Path+"accounts"))
	}
	if err == nil {
		err = a.Issuer.sanctioned(admin.Ban, who, c.from)
	}
	return l, lobby.Who{Client: who.Client, From: link.SourceOf(c.from),
		Anonymous: who.anonymous}, err
}

// act does something in the lobby, and tells everyone what came of it.
func (l *Lobby) act(f func(now time.Duration) error) error {
	l.mu.Lock()
	err := f(l.api.Book.opt.Now())
	l.deliver()
	orders := l.core.Orders()
	l.mu.Unlock()
	for i := range orders {
		l.order(&orders[i])
	}
	return lobbyError(err)
}

// lobbyError says what an error of the lobby means over HTTP.
func lobbyError(err error) error {
	var e *lobby.Error
	if !errors.As(err, &e) {
		return err
	}
	status, ok := map[string]int{"unknown_room": http.StatusNotFound,
		"unknown_member": http.StatusNotFound, "bad_request": http.StatusBadRequest,
		"full": http.StatusServiceUnavailable, "too_many": http.StatusTooManyRequests,
		"too_fast": http.StatusTooManyRequests, "not_member": http.StatusForbidden,
		"not_host": http.StatusForbidden, "kicked": http.StatusForbidden,
		"no_queue": http.StatusNotFound}[e.Code]
	if !ok {
		status = http.StatusConflict
	}
	return refuse(status, e.Code, e)
}

// report counts a result.
func (l *Lobby) report(ctx context.Context, r *Report) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return l.opt.Scorer.Report(ctx, r)
}
