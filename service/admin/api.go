package admin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Path is what all paths of the API begin with.
const Path = "/admin/v1/"

// A Game is what is administered: a server, or one of several mirrors of a game. Those that may be
// nil are things that it cannot do, which the API then says.
type Game struct {
	Title *game.Title
	// Do has a function called by the goroutine that drives the game, and waits for it.
	Do func(ctx context.Context, f func()) error
	// Server is the side that players see, or nil while there is none. It is asked within Do.
	Server func() *server.Server
	// Status is what /status says, asked within Do, and Metrics what /metrics does.
	Status  func() any
	Metrics func() []byte
	// Mirrored says that the world is not this server's alone. Group is the group that shares it,
	// or nil.
	Mirrored bool
	Group    *Group

	// Save makes the whole game durable, and says up to which tick. It may be nil.
	Save func(ctx context.Context) (world.Tick, error)
	// Unready is told whether players should be sent elsewhere, by whoever asks at /readyz.
	Unready func(on bool)
	// Stop begins the program's end: players have so long to go on elsewhere.
	// Below zero is as long as the program was started with.
	Stop func(drain time.Duration, why string) error
	// Settings are what the program was started with, without secrets.
	Settings []Setting
	// Log is the last of the log. It may be nil.
	Log *Tail
}

// An API answers over HTTP. Whoever serves it sees that it is reached over TLS, or from this
// machine alone: what is asked comes with a secret.
type API struct {
	folder   *Folder
	game     Game
	log      *slog.Logger
	failures failures
	knobs    pending
	busy     sync.Mutex // of what changes the world: one after the other
}

// New makes the API of a game, with what a folder keeps.
func New(f *Folder, g Game, log *slog.Logger) *API {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &API{folder: f, game: g, log: log}
}

// An Error is what the API answers where it does not do what was asked. The codes are for other
// programs and stay.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"error"`
}

func (e *Error) Error() string { return e.Message }

// refuse makes an error that says what to do.
func refuse(status int, code, format string, args ...any) *Error {
	return &Error{status, code, fmt.Sprintf(format, args...)}
}

// bad is an error of what was asked.
func bad(err error) *Error { return refuse(http.StatusBadRequest, "bad_request", "%v", err) }

// A call is one request, of someone who may make it.
type call struct {
	context.Context
	token Token
	from  netip.Addr
	body  []byte
	query func(string) string
	with  json.RawMessage // for the audit log
	out   http.ResponseWriter
}

// decode reads the body as JSON; none is the zero value.
func (c *call) decode(into any) error {
	if len(c.body) == 0 {
		return nil
	}
	if err := decodeStrict(c.body, into); err != nil {
		return bad(fmt.Errorf("the body: %w", err))
	}
	return nil
}

// A route is something that can be asked.
type route struct {
	method, name string
	role         Role
	// most is how many bytes the body may have.
	most func(a *API) int64
	do   func(a *API, c *call) (any, error)
}

func small(*API) int64 { return 64 << 10 }

// routes are all that can be asked.
var routes []route

func init() { // a variable would refer to itself, as the index lists them
	get, post := http.MethodGet, http.MethodPost
	routes = []route{
		{get, "", Watch, small, (*API).index},
		{get, "status", Watch, small, (*API).status},
		{get, "metrics", Watch, small, (*API).metrics},
		{get, "players", Watch, small, (*API).players},
		{get, "knobs", Watch, small, (*API).listKnobs},
		{get, "levels", Watch, small, (*API).levels},
		{get, "bans", Moderate, small, (*API).bans},
		{post, "kick", Moderate, small, (*API).kick},
		{post, "ban", Moderate, small, (*API).ban},
		{post, "unban", Moderate, small, (*API).unban},
		{post, "mute", Moderate, small, (*API).mute},
		{post, "unmute", Moderate, small, (*API).unmute},
		{post, "message", Moderate, small, (*API).message},
		{post, "pause", Operate, small, (*API).pause},
		{post, "resume", Operate, small, (*API).resume},
		{post, "level", Operate, mostLevel, (*API).level},
		{post, "content", Operate, mostContent, (*API).content},
		{post, "knobs", Operate, small, (*API).setKnobs},
		{post, "save", Operate, small, (*API).save},
		{post, "drain", Operate, small, (*API).drain},
		{post, "welcome", Operate, small, (*API).welcome},
		{post, "bundle", Operate, small, (*API).bundle},
		{post, "shutdown", Operate, small, (*API).shutdown},
		{get, "handover", Watch, small, (*API).handover},
		{post, "world", Operate, small, (*API).world},
		{post, "halt", Operate, small, (*API).halt},
		{post, "used", Operate, small, (*API).used},
		{post, "cede", Operate, small, (*API).cede},
		{post, "goon", Operate, small, (*API).goOn},
		{get, "audit", Operate, small, (*API).audit},
	}
}

// ServeHTTP answers. Who does not come with a good token learns nothing.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	from := addressOf(r.RemoteAddr)
	t, err := a.authenticate(r, from)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		answerError(w, err)
		return
	}
	rt, err := find(r)
	if err != nil {
		answerError(w, err)
		return
	}
	c := &call{Context: r.Context(), token: t, from: from, query: r.URL.Query().Get, out: w}
	if t.Role < rt.role {
		err := refuse(http.StatusForbidden, "role", "%s needs a token of the role %v, and yours "+
			"has %v", rt.name, rt.role, t.Role)
		a.note(c, rt, err.Message, false)
		answerError(w, err)
		return
	}
	most := rt.most(a)
	c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			err = refuse(http.StatusRequestEntityTooLarge, "too_large",
				"the body has more than %d bytes", most)
		} else {
			err = bad(fmt.Errorf("the body did not come whole: %w", err))
		}
		answerError(w, err)
		return
	}
	a.perform(c, rt)
}

// perform does what was asked, and writes down what changes something.
func (a *API) perform(c *call, rt *route) {
	c.with = summary(c.body)
	changes, durable := rt.method != http.MethodGet, rt.role == Operate
	if changes && durable {
		if err := a.note(c, rt, "asked", true); err != nil {
			answerError(c.out, refuse(http.StatusInternalServerError, "audit",
				"nothing was done, as the audit log cannot be written: %v", err))
			return
		}
	}
	answer, err := a.guarded(c, rt)
	if changes {
		result := "ok"
		if err != nil {
			result = err.Error()
		}
		_ = a.note(c, rt, result, durable) // the log says it
	}
	switch {
	case err != nil:
		answerError(c.out, err)
	case answer != nil:
		writeJSON(c.out, http.StatusOK, answer)
	}
}

// guarded has a panic of a handler, or of the game where it was asked to make something of a file,
// be an error of the request alone.
func (a *API) guarded(c *call, rt *route) (answer any, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.log.Error("a request to the admin API panicked", "what", rt.name, "panic",
				fmt.Sprint(v), "stack", string(debug.Stack()))
			err = refuse(http.StatusInternalServerError, "panic",
				"%s panicked: %v; the log says where", rt.name, v)
		}
	}()
	return rt.do(a, c)
}

// note adds to the audit log, and to the program's own.
func (a *API) note(c *call, rt *route, result string, durable bool) error {
	what := rt.method + " " + rt.name
	err := a.folder.Log(Entry{
		Who: c.token.Name, Token: c.token.ID, Role: c.token.Role.String(), From: c.from.String(),
		What: what, With: c.with, Result: result,
	}, durable)
	if result != "asked" {
		a.log.Info("admin", "who", c.token.Name, "token", c.token.ID, "what", what, "result",
			result)
	}
	if err != nil {
		a.log.Error("the audit log cannot be written", "folder", a.folder.dir, "error", err)
	}
	return err
}

// authenticate finds out who asks.
func (a *API) authenticate(r *http.Request, from netip.Addr) (Token, error) {
	now := a.folder.now()
	if a.failures.over(from, now) {
		return Token{}, refuse(http.StatusTooManyRequests, "too_many",
			"too many tokens were wrong: try again in %v", failureAgain)
	}
	kind, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || secret == "" {
		return Token{}, refuse(http.StatusUnauthorized, "token",
			"give a token by Authorization: Bearer TOKEN")
	}
	list, err := a.folder.Tokens()
	if err != nil {
		a.log.Error("tokens for administration cannot be read", "error", err)
		return Token{}, refuse(http.StatusServiceUnavailable, "tokens",
			"the server cannot read its tokens: its log says why")
	}
	t, ok := findToken(list, secret, now)
	if !ok {
		if a.failures.count(from, now) {
			_ = a.folder.Log(Entry{Who: "-", From: from.String(), What: "token", Result: "refused"},
				false) // what matters is that it is refused
			a.log.Warn("a token for administration was refused", "from", from.String())
		}
		return Token{}, refuse(http.StatusUnauthorized, "token",
			"the token is wrong, was revoked or has expired")
	}
	return t, nil
}

// Allow says why a request, of whatever else is served beside the API, does not come with a good
// token. Any role will do.
func (a *API) Allow(r *http.Request) error {
	_, err := a.authenticate(r, addressOf(r.RemoteAddr))
	return err
}

// find finds what is asked.
func find(r *http.Request) (*route, error) {
	name, ok := strings.CutPrefix(r.URL.Path, Path)
	var others []string
	for i := range routes {
		switch {
		case !ok || routes[i].name != name:
		case routes[i].method == r.Method:
			return &routes[i], nil
		default:
			others = append(others, routes[i].method)
		}
	}
	if len(others) > 0 {
		return nil, refuse(http.StatusMethodNotAllowed, "method", "ask with %s",
			strings.Join(others, " or "))
	}
	return nil, refuse(http.StatusNotFound, "not_found", "there is no %.80q; GET %s lists what "+
		"there is", r.URL.Path, Path)
}

// summary is a body as the audit log has it: JSON as it is, without what is long.
func summary(body []byte) json.RawMessage {
	switch {
	case len(body) == 0:
		return nil
	case len(body) <= mostWith && json.Valid(body):
		return body
	}
	sum := sha256.Sum256(body)
	return json.RawMessage(fmt.Sprintf(`{"bytes":%d,"sha256":"%x"}`, len(body), sum))
}

// patience is how long a request waits for the goroutine that drives the game.
const patience = 5 * time.Second

// with has something done with the server by the goroutine that drives it.
func (a *API) with(ctx context.Context, f func(s *server.Server) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan error, 1)
	err := a.game.Do(ctx, func() {
		defer func() { // what a request does is to harm no game
			if v := recover(); v != nil {
				a.log.Error("a request to the admin API panicked", "panic", fmt.Sprint(v), "stack",
					string(debug.Stack()))
				done <- refuse(http.StatusInternalServerError, "panic", "it panicked: %v; the log "+
					"says where", v)
			}
		}()
		s := a.game.Server()
		switch {
		case s == nil:
			done <- refuse(http.StatusConflict, "not_ready", "there is no game here yet")
		case s.Failed() != nil:
			done <- refuse(http.StatusConflict, "failed", "the game has failed: %v", s.Failed())
		default:
			done <- f(s)
		}
	})
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "busy",
			"the game does not answer (%v); what was asked may still be done", err)
	}
	return <-done
}

// answerError writes an error as JSON.
func answerError(w http.ResponseWriter, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{http.StatusInternalServerError, "failed", err.Error()}
	}
	if e.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", fmt.Sprint(int(failureAgain.Seconds())))
	}
	writeJSON(w, e.Status, e)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who has gone need not be told
}

// addressOf is the address of whoever asks.
func addressOf(remote string) netip.Addr {
	if a, err := netip.ParseAddrPort(remote); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(remote)
	return a.Unmap()
}
