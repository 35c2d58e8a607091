package directory

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// This file is what can be asked of the lobby. {code} in a path is that of a room.

var lobbyRoutes = []route{
	{method: http.MethodPost, path: "accounts", limit: ofTokens, do: (*API).newAccount},
	{method: http.MethodGet, path: "me", limit: often, do: (*API).mine},
	{method: http.MethodGet, path: "me/events", limit: often, do: (*API).myEvents},
	{method: http.MethodGet, path: "rooms", limit: often, do: (*API).rooms},
	{method: http.MethodPost, path: "rooms", limit: often, do: (*API).makeRoom},
	{method: http.MethodGet, path: "rooms/{code}", limit: often, do: (*API).lookRoom},
	{method: http.MethodPost, path: "rooms/{code}/join", limit: often, do: (*API).joinRoom},
	{method: http.MethodPost, path: "rooms/{code}/leave", limit: often, do: (*API).leaveRoom},
	{method: http.MethodPost, path: "rooms/{code}/me", limit: often, do: (*API).setMe},
	{method: http.MethodPost, path: "rooms/{code}/setup", limit: often, do: (*API).setRoom},
	{method: http.MethodPost, path: "rooms/{code}/chat", limit: often, do: (*API).chat},
	{method: http.MethodPost, path: "rooms/{code}/kick", limit: often, do: (*API).kick},
	{method: http.MethodPost, path: "rooms/{code}/start", limit: often, do: (*API).startRoom},
	{method: http.MethodPost, path: "rooms/{code}/queue", limit: often, do: (*API).queueRoom},
	{method: http.MethodPost, path: "queue", limit: often, do: (*API).queue},
	{method: http.MethodPost, path: "queue/leave", limit: often, do: (*API).leaveQueue},
	{method: http.MethodPost, path: "entries/{id}/results", limit: often, do: (*API).result,
		body: mostResult},
	{method: http.MethodGet, path: "boards", limit: often, do: (*API).boards},
	{method: http.MethodGet, path: "standings", limit: often, do: (*API).standings},
}

// A NewRoom makes a room.
type NewRoom struct {
	Room lobby.Setup   `json:"room"`
	Me   lobby.Profile `json:"me"`
}

// A QueueUp has somebody wait for others.
type QueueUp struct {
	Game    string        `json:"game"`
	Version string        `json:"version,omitempty"`
	Me      lobby.Profile `json:"me"`
}

// A ChatLine is a line that somebody says.
type ChatLine struct {
	Text string `json:"text"`
}

// A Kick removes a member from a room.
type Kick struct {
	Member uint64 `json:"member,string"`
}

// A StartRoom begins the match of a room. Anyway says: though not everyone is ready.
type StartRoom struct {
	Anyway bool `json:"anyway,omitempty"`
}

// Limits of what people say of themselves.
const (
	maxPlayerName = 32
	maxTrips      = 16
	maxTrip       = 10_000
	maxSkill      = 1_000_000
	maxData       = 256
)

func checkMe(name, data string, trips map[string]int, skill int) error {
	if err := checkText("your name", name, false, maxPlayerName); err != nil {
		return err
	}
	if len(data) > maxData || !utf8.ValidString(data) {
		return fmt.Errorf("data is no text, or has more than %d bytes", maxData)
	}
	if len(trips) > maxTrips {
		return fmt.Errorf("there are round trips to %d regions: give at most %d", len(trips),
			maxTrips)
	}
	for region, t := range trips {
		if err := checkText("a region", region, false, MaxText); err != nil {
			return err
		}
		if t < 0 || t > maxTrip {
			return fmt.Errorf("a round trip is %d: give milliseconds, up to %d", t, maxTrip)
		}
	}
	if skill < -maxSkill || skill > maxSkill {
		return fmt.Errorf("skill is %d: it is at most %d", skill, maxSkill)
	}
	return nil
}

func checkProfile(p *lobby.Profile) error { return checkMe(p.Name, p.Data, p.Trips, p.Skill) }

func checkGame(game, version string) error {
	if err := checkText("the game", game, false, MaxText); err != nil {
		return err
	}
	_, err := parseVersion(version)
	return err
}

func checkSetup(s *lobby.Setup) error {
	return errors.Join(checkGame(s.Game, s.Version), checkText("the level", s.Level, true, MaxText),
		checkText("the room's name", s.Name, true, MaxText))
}

// read reads a body and checks it.
func read[T any](c *call, check func(*T) error) (v T, err error) {
	if len(c.body) == 0 {
		c.body = []byte("{}")
	}
	if err = decode(c.body, &v); err == nil && check != nil {
		if err = check(&v); err != nil {
			err = bad(err)
		}
	}
	return v, err
}

func (a *API) newAccount(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	if a.Issuer != nil && a.Issuer.Verifier != nil {
		return nil, refuse(http.StatusConflict, "account", errors.New("this directory knows "+
			"accounts by another way: sign in at the game's own service"))
	}
	return l.newAccount(), nil
}

// code is the room that is asked for. Whoever names too many that there are not has to wait, so
// that codes cannot be guessed.
func (l *Lobby) code(c *call) (string, error) {
	now := l.api.Book.opt.Now()
	if !l.codes.left(c.from, now) {
		return "", refuse(http.StatusTooManyRequests, "too_many",
			errors.New("too many codes from this address were wrong: try again in a minute"))
	}
	code, ok := lobby.ParseCode(c.id)
	if ok {
		l.mu.Lock()
		_, err := l.core.Look(code)
		l.mu.Unlock()
		ok = err == nil
	}
	if !ok {
		l.codes.pass(c.from, now)
		return "", lobbyError(lobby.ErrCode)
	}
	return code, nil
}

// inRoom does something in the room that is asked for.
func (a *API) inRoom(
	c *call,
	f func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (*lobby.Room, error),
) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	code, err := l.code(c)
	if err != nil {
		return nil, err
	}
	var v *lobby.Room
	err = l.act(func(now time.Duration) (err error) {
		v, err = f(l.core, now, w, code)
		return err
	})
	if err != nil {
		return nil, err
	}
	if v == nil {
		return map[string]bool{"done": true}, nil
	}
	return v, nil
}

func (a *API) rooms(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	q := c.URL.Query()
	for name, v := range q {
		if !slices.Contains([]string{"game", "version"}, name) || len(v) > 1 {
			return nil, bad(fmt.Errorf("%.40q is not a filter, or given twice: there are game "+
				"and version", name))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]any{"rooms": l.core.List(q.Get("game"), q.Get("version"), 200)}, nil
}

func (a *API) makeRoom(c *call) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	q, err := read(c, func(q *NewRoom) error {
		return errors.Join(checkSetup(&q.Room), checkProfile(&q.Me))
	})
	if err != nil {
		return nil, err
	}
	if !l.makes.pass(c.from, a.Book.opt.Now()) {
		return nil, refuse(http.StatusTooManyRequests, "too_many",
			errors.New("too many rooms are made from this address: try again in some seconds"))
	}
	var v *lobby.Room
	err = l.act(func(now time.Duration) (err error) {
		v, err = l.core.Make(now, w, q.Room, q.Me)
		return err
	})
	return v, err
}

func (a *API) lookRoom(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	code, err := l.code(c)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v, err := l.core.Look(code)
	return v, lobbyError(err)
}

func (a *API) joinRoom(c *call) (any, error) {
	me, err := read(c, checkProfile)
	if err != nil {
		return nil, err
	}
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.Join(now, w, code, me)
	})
}

func (a *API) leaveRoom(c *call) (any, error) {
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return nil, l.Leave(now, w, code)
	})
}

func (a *API) setMe(c *call) (any, error) {
	me, err := read(c, func(m *lobby.Me) error {
		name, data, skill := "-", "", 0
		if m.Name != nil {
			name = *m.Name
		}
		if m.Data != nil {
			data = *m.Data
		}
		if m.Skill != nil {
			skill = *m.Skill
		}
		return checkMe(name, data, m.Trips, skill)
	})
	if err != nil {
		return nil, err
	}
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.Set(now, w, code, me)
	})
}

func (a *API) setRoom(c *call) (any, error) {
	s, err := read(c, checkSetup)
	if err != nil {
		return nil, err
	}
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.Change(now, w, code, s)
	})
}

func (a *API) chat(c *call) (any, error) {
	q, err := read(c, func(q *ChatLine) error {
		return checkText("the line", q.Text, false, lobby.MaxLine)
	})
	if err != nil {
		return nil, err
	}
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		if err := a.Issuer.sanctioned(admin.Mute, Account{Client: w.Client}, c.from); err != nil {
			return nil, err
		}
		return nil, l.Say(now, w, code, q.Text)
	})
}

func (a *API) kick(c *call) (any, error) {
	q, err := read[Kick](c, nil)
	if err != nil {
		return nil, err
	}
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.Kick(now, w, code, q.Member)
	})
}

// startRoom begins a match, and says where it is if that is known at once.
func (a *API) startRoom(c *call) (any, error) {
	q, err := read[StartRoom](c, nil)
	if err != nil {
		return nil, err
	}
	if _, err := a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.Start(now, w, code, q.Anyway)
	}); err != nil {
		return nil, err
	}
	is, err := a.mine(c)
	if m, ok := is.(lobby.Mine); ok && m.Room != nil && m.Room.Why != "" {
		return nil, refuse(http.StatusServiceUnavailable, "no_server", errors.New(m.Room.Why))
	}
	return is, err
}

func (a *API) queueRoom(c *call) (any, error) {
	return a.inRoom(c, func(l *lobby.Lobby, now time.Duration, w lobby.Who, code string) (
		*lobby.Room, error) {
		return l.EnqueueRoom(now, w, code)
	})
}

func (a *API) queue(c *call) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	q, err := read(c, func(q *QueueUp) error {
		return errors.Join(checkGame(q.Game, q.Version), checkProfile(&q.Me))
	})
	if err != nil {
		return nil, err
	}
	var v *lobby.Queued
	err = l.act(func(now time.Duration) (err error) {
		v, err = l.core.Enqueue(now, w, q.Game, q.Version, q.Me)
		return err
	})
	return v, err
}

func (a *API) leaveQueue(c *call) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"done": true}, l.act(func(now time.Duration) error {
		return l.core.Dequeue(now, w)
	})
}

func (a *API) mine(c *call) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Ping(a.Book.opt.Now(), w), nil
}

// myEvents tells somebody what happens, beginning with how it is.
func (a *API) myEvents(c *call) (any, error) {
	l, w, err := a.member(c)
	if err != nil {
		return nil, err
	}
	s := &stream{make(chan []byte, streamRoom)}
	l.mu.Lock()
	now := a.Book.opt.Now()
	if err = l.core.Listen(now, w, true); err != nil || l.closed {
		l.mu.Unlock()
		if err == nil {
			err = ErrListeners
		}
		return nil, lobbyError(err)
	}
	if l.streams[w.Client] == nil {
		l.streams[w.Client] = map[*stream]bool{}
	}
	l.streams[w.Client][s] = true
	begin := eventText(l.core.Ping(now, w))
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.forgetStream(w.Client, s)
		_ = l.core.Listen(a.Book.opt.Now(), w, false) // who lets go is not refused
	}()
	c.tell(func(say func([]byte) bool) bool { return say(begin) }, s.queue, func([]byte) {})
	return nil, nil
}

// whole reads a number of a query.
func whole(text string, least, most, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("limit is %.20q: it must be from %d to %d", text, least, most)
	}
	return n, nil
}
