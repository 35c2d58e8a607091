package directory

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Path is what all paths of the API begin with.
const Path = "/directory/v1/"

// mostBody is how many bytes a request may have.
const mostBody = 8 << 10

// A Prover finds out whether addresses are those of whoever has a key: it gives those that
// answered, and for each carrier that did not why.
type Prover interface {
	Prove(ctx context.Context, id [IDSize]byte, a Addresses, from netip.Addr) (Addresses,
		map[string]string)
}

// An API answers over HTTP.
type API struct {
	Book   *Book
	Prover Prover
	// Issuer issues tokens. It may be nil.
	Issuer *Issuer
	// Lobby has players gather; see AddLobby. It may be nil.
	Lobby *Lobby
	// Names are the hosts by which servers reach this directory, if it is to refuse what was
	// announced to another.
	Names []string
	// Banned says why nothing from an address is listed, or nil. It may be nil.
	Banned func(netip.Addr) error

	register, ask, tokens limits
	refused               atomic.Uint64
	proving               proving
}

// NewAPI makes the API of a book.
func NewAPI(b *Book, p Prover, i *Issuer) *API {
	return &API{Book: b, Prover: p, Issuer: i,
		register: limits{rate: 1, burst: 60}, ask: limits{rate: 50, burst: 400},
		tokens: limits{rate: 0.5, burst: 20}}
}

// An Error is what the API answers where it does not do what was asked. The codes are for other
// programs and stay.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"error"`
}

func (e *Error) Error() string { return e.Message }

func refuse(status int, code string, err error) *Error { return &Error{status, code, err.Error()} }

func bad(err error) *Error { return refuse(http.StatusBadRequest, "bad_request", err) }

//go:embed openapi.json
var openAPI []byte

// A route is something that can be asked. {id} in its path is that of an entry, {code} of a room.
type route struct {
	method, path string
	limit        func(a *API) *limits
	do           func(a *API, c *call) (any, error)
	body         int // bytes that its body may have, if not mostBody
}

func often(a *API) *limits { return &a.ask }

func ofRegister(a *API) *limits { return &a.register }

func ofTokens(a *API) *limits { return &a.tokens }

// routes are all that can be asked.
var routes = append([]route{
	{method: http.MethodGet, path: "openapi.json", limit: often, do: (*API).describe},
	{method: http.MethodGet, path: "entries", limit: often, do: (*API).list},
	{method: http.MethodPost, path: "entries", limit: ofRegister, do: (*API).announce},
	{method: http.MethodGet, path: "entries/{id}", limit: often, do: (*API).one},
	{method: http.MethodPost, path: "entries/{id}/alive", limit: often, do: (*API).alive},
	{method: http.MethodPost, path: "entries/{id}/goodbye", limit: often, do: (*API).goodbye},
	{method: http.MethodPost, path: "entries/{id}/token", limit: ofTokens, do: (*API).token},
	{method: http.MethodGet, path: "events", limit: often, do: (*API).events},
}, lobbyRoutes...)

// mostCode is how long a code of a room may be, as people write it.
const mostCode = 64

// A call is one request.
type call struct {
	*http.Request
	out  http.ResponseWriter
	from netip.Addr
	id   string
	body []byte
}

// ServeHTTP answers.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*") // lists are for everyone's pages
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+SignatureHeader)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c := &call{Request: r, out: w, from: addressOf(r.RemoteAddr)}
	answer, err := a.perform(c)
	switch {
	case err != nil:
		a.refused.Add(1)
		answerError(w, err)
	case answer != nil:
		writeJSON(w, http.StatusOK, answer)
	}
}

func (a *API) perform(c *call) (any, error) {
	rt, err := find(c)
	if err != nil {
		return nil, err
	}
	if !rt.limit(a).pass(c.source(), a.Book.opt.Now()) {
		return nil, refuse(http.StatusTooManyRequests, "too_many",
			errors.New("too much is asked from this address: try again in some seconds"))
	}
	if c.Method == http.MethodPost {
		most := cmp.Or(rt.body, mostBody)
		c.body, err = io.ReadAll(http.MaxBytesReader(c.out, c.Body, int64(most)))
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, refuse(http.StatusRequestEntityTooLarge, "too_large",
				fmt.Errorf("the body has more than %d bytes", most))
		}
		if err != nil {
			return nil, bad(fmt.Errorf("the body did not come whole: %w", err))
		}
	}
	return rt.do(a, c)
}

// find finds what is asked.
func find(c *call) (*route, error) {
	name, ok := strings.CutPrefix(c.URL.Path, Path)
	var others []string
	for i := range routes {
		rt := &routes[i]
		id, fits := rt.fits(name)
		switch {
		case !ok || !fits:
		case rt.method == c.Method:
			c.id = id
			return rt, nil
		default:
			others = append(others, rt.method)
		}
	}
	if len(others) > 0 {
		return nil, refuse(http.StatusMethodNotAllowed, "method",
			errors.New("ask with "+strings.Join(others, " or ")))
	}
	return nil, refuse(http.StatusNotFound, "not_found", fmt.Errorf(
		"there is no %.80q; GET %sopenapi.json says what there is", c.URL.Path, Path))
}

func (rt *route) fits(name string) (id string, ok bool) {
	if before, after, has := strings.Cut(rt.path, "{code}"); has {
		id, ok := strings.CutPrefix(name, before)
		end := strings.HasSuffix(id, after)
		id = strings.TrimSuffix(id, after)
		return id, ok && end && id != "" && len(id) <= mostCode && !strings.Contains(id, "/")
	}
	before, after, has := strings.Cut(rt.path, "{id}")
	if !has {
		return "", name == rt.path
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok || !strings.HasSuffix(rest, after) || len(rest) != 2*IDSize+len(after) {
		return "", false
	}
	id = rest[:2*IDSize]
	return id, strings.Trim(id, "0123456789abcdef") == ""
}

func (a *API) describe(c *call) (any, error) {
	c.out.Header().Set("Content-Type", "application/json")
	_, _ = c.out.Write(openAPI) // who has gone need not be told
	return nil, nil
}

func (a *API) list(c *call) (any, error) {
	page, err := a.Book.listing.Load().page(c.URL.RawQuery)
	if err != nil {
		return nil, bad(err)
	}
	c.out.Header().Set("Content-Type", "application/json")
	c.out.Header().Set("Content-Length", strconv.Itoa(len(page)))
	_, _ = c.out.Write(page) // who has gone need not be told
	return nil, nil
}

func (a *API) one(c *call) (any, error) {
	if e := a.Book.lookup(c.id); e != nil {
		return e.Entry, nil
	}
	return nil, refuse(http.StatusNotFound, "unknown",
		errors.New("there is no such entry: it has gone, or never was; ask for the list"))
}

func (a *API) announce(c *call) (any, error) {
	var n Announcement
	if err := decode(c.body, &n); err != nil {
		return nil, err
	}
	key, err := parseKey(n.Key)
	if err != nil {
		return nil, bad(err)
	}
	if err := verify(key, c.URL.Path, c.body, c.Header.Get(SignatureHeader)); err != nil {
		return nil, refuse(http.StatusForbidden, "signature", err)
	}
	if err := n.isFor(a.Names); err != nil {
		return nil, refuse(http.StatusForbidden, "other_directory", err)
	}
	if err := errors.Join(n.Check(), n.fill(c.from)); err != nil {
		return nil, bad(err)
	}
	if a.Banned != nil {
		if err := a.Banned(c.from); err != nil {
			return nil, refuse(http.StatusForbidden, "banned", err)
		}
	}
	id := IDOf(key)
	if err := a.Book.known(fmt.Sprintf("%x", id), n.Place, n.Seq); err != nil {
		return nil, known(err)
	}
	if !a.proving.enter(c.source()) {
		return nil, known(ErrBusy)
	}
	proved, failed := a.Prover.Prove(c.Context(), id, n.Addresses, c.from)
	a.proving.leave(c.source())
	if proved.UDP == "" && proved.WS == "" {
		return nil, refuse(http.StatusUnprocessableEntity, "unreachable", unreachable(failed))
	}
	n.Addresses = proved
	failed = n.elsewhere(failed)
	r, err := a.Book.Register(c.Context(), n, key, c.source())
	if err != nil {
		return nil, known(err)
	}
	r.Unproven = failed
	return r, nil
}

// unreachable says what to do about a server that does not answer where it says it is.
func unreachable(failed map[string]string) error {
	var why []string
	for _, carrier := range []string{"udp", "ws", "wt"} {
		if failed[carrier] != "" {
			why = append(why, failed[carrier])
		}
	}
	return fmt.Errorf("nothing answers where the entry says that it is: %s: let datagrams through "+
		"to it, or give --public with the address at which players reach it",
		strings.Join(why, "; "))
}

func (a *API) alive(c *call) (any, error) {
	var n Alive
	if err := decode(c.body, &n); err != nil {
		return nil, err
	}
	if err := a.Book.alive(c.request(), c.id, n); err != nil {
		return nil, known(err)
	}
	return map[string]int{"every": int(Every / time.Second)}, nil
}

func (a *API) goodbye(c *call) (any, error) {
	var n Goodbye
	if err := decode(c.body, &n); err != nil {
		return nil, err
	}
	if err := a.Book.goodbye(c.Context(), c.request(), c.id, n); err != nil {
		return nil, known(err)
	}
	return map[string]bool{"gone": true}, nil
}

func (c *call) request() request {
	return request{c.URL.Path, c.body, c.Header.Get(SignatureHeader), c.source()}
}

// known says what an error of the book means over HTTP.
func known(err error) error {
	for _, x := range []struct {
		err    error
		status int
		code   string
	}{
		{ErrUnknown, http.StatusNotFound, "unknown"}, {ErrStale, http.StatusConflict, "stale"},
		{ErrLease, http.StatusConflict, "lease"}, {errSignature, http.StatusForbidden, "signature"},
		{ErrFull, http.StatusServiceUnavailable, "full"},
		{ErrMany, http.StatusTooManyRequests, "too_many"},
		{ErrOtherGame, http.StatusConflict, "other_game"},
		{ErrBusy, http.StatusServiceUnavailable, "busy"},
	} {
		if errors.Is(err, x.err) {
			return refuse(x.status, x.code, err)
		}
	}
	if isAway(err) {
		return refuse(http.StatusServiceUnavailable, "away",
			errors.New("the directory's database is away: try again in some seconds"))
	}
	return bad(err)
}

// decode reads a body of JSON, strictly.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the JSON value")
		}
	}
	if err != nil {
		return bad(fmt.Errorf("the body: %w", err))
	}
	return nil
}

func answerError(w http.ResponseWriter, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{http.StatusInternalServerError, "failed", err.Error()}
	}
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
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
		return a.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(remote)
	return a.Unmap().WithZone("")
}

func isAway(err error) bool {
	return errors.Is(err, ErrAway) || errors.Is(err, context.DeadlineExceeded)
}

// Stats are numbers of a directory.
type Stats struct {
	Registered, Alive, Goodbye, Expired, Failed, Refused uint64
	Listeners                                            int
}

// Stats gives the numbers.
func (a *API) Stats() Stats {
	c := &a.Book.counts
	return Stats{Registered: c.Registered.Load(), Alive: c.Alive.Load(), Goodbye: c.Goodbye.Load(),
		Expired: c.Expired.Load(), Failed: c.Failed.Load(), Refused: a.refused.Load(),
		Listeners: a.Book.hub.size()}
}
