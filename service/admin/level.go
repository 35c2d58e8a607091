package admin

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is how another level begins, of a server and of mirrors.

// Levels are the answer to which levels there are.
type Levels struct {
	Now    string   `json:"now"`
	Levels []string `json:"levels"`
	// Files says whether the game takes a level as a file, and Most how many bytes it may have.
	Files bool `json:"files"`
	Most  int  `json:"most_bytes"`
}

func (a *API) levels(c *call) (any, error) {
	l := &a.game.Title.Levels
	out := Levels{Levels: append([]string{}, l.Names...), Files: l.Read != nil, Most: l.Limit()}
	err := a.with(c, func(s *server.Server) error {
		out.Now = s.Level().Name
		return nil
	})
	return out, err
}

// LevelRequest asks for another level: by its name, or with its data. A seed of 0 is drawn.
type LevelRequest struct {
	Name string `json:"name,omitempty"`
	Seed uint64 `json:"seed,string,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// A LevelBegun is the answer.
type LevelBegun struct {
	Level string `json:"level"`
	Seed  uint64 `json:"seed,string"`
	// Kept says, of mirrors that keep the game, that all disks have it that it plays there.
	Kept *bool `json:"kept,omitempty"`
}

func mostLevel(a *API) int64 {
	return int64(a.game.Title.Levels.Limit())/3*4 + 64<<10
}

// draw gives a number that no one can foresee.
func draw() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// level begins another level, once it is ready: until then, and if anything is wrong with it, the
// game goes on as it was.
func (a *API) level(c *call) (any, error) {
	var q LevelRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	l, err := a.readLevel(q)
	if err != nil {
		return nil, err
	}
	a.busy.Lock()
	defer a.busy.Unlock()
	if a.game.Group != nil {
		return a.levelOfGroup(c, l)
	}
	var s *server.Server
	if err := a.with(c, func(x *server.Server) error { s = x; return nil }); err != nil {
		return nil, err
	}
	made, err := s.Prepare(l)
	if err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "level",
			"the level cannot begin, and nothing was changed: %v", err)
	}
	if err := try(made.World().Host().Clone(), nil); err != nil {
		return nil, err
	}
	err = a.with(c, func(s *server.Server) error { return s.Begin(made) })
	a.knobs.forget()
	return LevelBegun{Level: l.Name, Seed: l.Seed}, err
}

const (
	// levelTime is how long mirrors have to make a level ready.
	levelTime = 2 * time.Minute
	// keptTime is how long an answer waits until all disks have it that a level has begun.
	keptTime = 5 * time.Second
)

// levelOfGroup has all mirrors begin a level, and answers when it has begun here.
func (a *API) levelOfGroup(c *call, l game.Level) (any, error) {
	var base world.Tick
	for end := time.Now().Add(levelTime); ; {
		done := false
		err := a.group(c, func(m Halter) (err error) {
			done, err = m.Change(l)
			base = m.Base()
			return err
		})
		switch {
		case errors.Is(err, mirror.ErrLevel):
			return nil, refuse(http.StatusUnprocessableEntity, "level", "%v", err)
		case errors.Is(err, mirror.ErrCannotChange):
			return nil, refuse(http.StatusConflict, "mirrors", "%v: coeval mirror --uber "+
				"--level %s with the same --key, and: admin drain ADDRESS", err,
				cmp.Or(l.Name, "NAME"))
		case errors.Is(err, mirror.ErrOtherLevel):
			return nil, refuse(http.StatusConflict, "other_level", "%v", err)
		case err != nil:
			return nil, notNow(err)
		case done:
			a.knobs.forget()
			out := LevelBegun{Level: l.Name, Seed: l.Seed}
			out.Kept, err = a.keptSince(c, base)
			return out, err
		case time.Now().After(end):
			return nil, refuse(http.StatusServiceUnavailable, "late", "not all mirrors have made "+
				"the level ready within %v, and nothing was changed: see their logs", levelTime)
		}
		if err := a.wait(c); err != nil {
			return nil, err
		}
	}
}

// keptSince waits until all mirrors that keep the game have a tick on their disks, for a while, and
// says whether they do, or nil if they do not keep it.
func (a *API) keptSince(c *call, t world.Tick) (*bool, error) {
	if a.game.Save == nil {
		return nil, nil
	}
	for end := time.Now().Add(keptTime); ; {
		kept := false
		if err := a.group(c, func(m Halter) error { kept = m.Safe() > t; return nil }); err != nil {
			return nil, err
		}
		if kept || time.Now().After(end) {
			return &kept, nil
		}
		if err := a.wait(c); err != nil {
			return nil, err
		}
	}
}

// wait waits until it is worth to ask the game again.
func (a *API) wait(c *call) error {
	select {
	case <-c.Done():
		return c.Err()
	case <-time.After(2 * a.game.Title.Game.TickLength()):
		return nil
	}
}

// readLevel makes a level of what was asked, or says what is wrong with it.
func (a *API) readLevel(q LevelRequest) (l game.Level, err error) {
	t := a.game.Title
	wrong := func(err error) error {
		return refuse(http.StatusUnprocessableEntity, "level",
			"that is no level, and nothing was changed: %v", err)
	}
	switch {
	case len(q.Data) > t.Levels.Limit():
		return l, wrong(fmt.Errorf("it has %d bytes, and at most %d may be", len(q.Data),
			t.Levels.Limit()))
	case len(q.Data) > 0:
		if l, err = t.Bring(q.Data); err != nil {
			return l, wrong(err)
		}
		if q.Name != "" {
			l.Name = q.Name
		}
	case q.Name == "" && t.Levels.Settings != nil:
		return l, bad(fmt.Errorf("say which: %s has %s", t.Name(), strings.Join(t.Levels.Names,
			", ")))
	case q.Name != "" && t.Levels.Settings == nil:
		return l, bad(fmt.Errorf("%s has no levels: leave the name out, and it begins anew",
			t.Name()))
	default:
		l.Name = q.Name
	}
	l.Seed, l.Secret = q.Seed, draw()
	if l.Seed == 0 {
		l.Seed = draw()
	}
	if err := l.Check(); err != nil {
		return l, wrong(err)
	}
	if _, err := t.Settings(l); err != nil {
		return l, wrong(err)
	}
	return l, nil
}
