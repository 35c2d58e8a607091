package directory

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// This file finds servers for matches.

// A StartRequest is what a server is started for.
type StartRequest struct {
	Game, Version, Level string
	// Room is the code of the room, or nothing for a match of a queue. Players is how many come.
	Room    string
	Players int
	// Tag is what the server must register with, by which it is known.
	Tag string
	// Page says that somebody of them plays in a browser, so that the server needs a page.
	Page bool
}

// A Starter starts servers.
type Starter interface {
	// Start starts one, which is to register with the tag. It returns at once. What it gives is
	// closed, or has an error, when it is over; stop ends it. It is ErrBusy if as many are being
	// started as may be.
	Start(r StartRequest) (over <-chan error, stop func(), err error)
}

var (
	errNoServer = errors.New("no server of this game has room for all: try again later, or start " +
		"one with coeval serve --directory")
	errBarred = errors.New("nobody of the match is let in")
)

// noServer says why there is none for a match.
func noServer(o *lobby.Order) error {
	if inBrowsers(o) {
		return fmt.Errorf("somebody plays in a browser, and %w --page", errNoServer)
	}
	return errNoServer
}

// inBrowsers says whether somebody of a match plays in a browser.
func inBrowsers(o *lobby.Order) bool {
	return slices.ContainsFunc(o.Players, func(p lobby.Player) bool { return p.Page })
}

// holdTime is for how long seats are kept: as long as a token lets somebody in, and until the
// server has said that they came.
func (a *API) holdTime() time.Duration {
	life := time.Minute
	if a.Issuer != nil && a.Issuer.Life != 0 {
		life = a.Issuer.Life
	}
	return life + 2*Every
}

// expect keeps a seat for somebody who was given a token.
func (l *Lobby) expect(e *listed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.api.Book.opt.Now()
	l.holds.Free(now, e.ID, e.Players, e.Capacity) // who has come meanwhile
	l.holds.Hold(e.ID, 1, e.Players, now+l.api.holdTime())
}

// regions are those in which there are servers of a game.
func (b *Book) regions(game, version string) (out []string) {
	for _, e := range b.listing.Load().of(game)[0] {
		if (version == "" || e.Version == version) && e.Mode != Relay {
			for i := range e.Places {
				if r := e.Places[i].Region; r != "" && !slices.Contains(out, r) {
					out = append(out, r)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// order finds a server for a match: one that there is, or one that is started for it, which takes a
// while.
func (l *Lobby) order(o *lobby.Order) {
	l.api.Book.publish() // a server that was listed this very moment counts
	err := l.place(o, "")
	if !errors.Is(err, errNoServer) || l.opt.Starter == nil {
		l.finish(o, err)
		return
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	tag := "match-" + hex.EncodeToString(b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.tags[tag] = true
	l.placing.Go(func() {
		err := l.begin(o, tag)
		l.mu.Lock()
		delete(l.tags, tag)
		l.mu.Unlock()
		l.finish(o, err)
	})
}

// finish tells those who wait for a server that there is none.
func (l *Lobby) finish(o *lobby.Order, err error) {
	if err == nil {
		return
	}
	l.opt.Log.Info("no server for a match", "game", o.Game, "room", o.Room, "players",
		len(o.Players), "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Fail(l.api.Book.opt.Now(), o.ID, err.Error())
	l.deliver()
}

// begin starts a server and waits until it is listed.
func (l *Lobby) begin(o *lobby.Order, tag string) error {
	over, stop, err := l.opt.Starter.Start(StartRequest{Game: o.Game, Version: o.Version,
		Level: o.Level, Room: o.Room, Players: len(o.Players), Tag: tag, Page: inBrowsers(o)})
	if errors.Is(err, ErrBusy) {
		return errors.New("no server has room, and as many are being started as may be: try " +
			"again in some seconds")
	}
	if err != nil {
		return fmt.Errorf("no server has room, and none could be started: %w", err)
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.opt.StartTime)
	defer cancel()
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			stop()
			return errors.New("no server has room, and one that was started was not listed in time")
		case err := <-over:
			if err != nil {
				return fmt.Errorf("no server has room, and the command to start one failed: %w", err)
			}
			over = nil // it has handed over to something else
		case <-t.C:
			if err := l.place(o, tag); !errors.Is(err, errNoServer) {
				return err
			}
		}
	}
}

// place sends a match to a server with room, if there is one: with a tag, to that one alone.
func (l *Lobby) place(o *lobby.Order, tag string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.api.Book.opt.Now()
	var list []lobby.Candidate
	var entries []*listed
	for _, e := range l.api.Book.listing.Load().of(o.Game)[0] {
		if !l.suits(e, o, tag) {
			continue
		}
		c := lobby.Candidate{ID: e.ID, Free: l.holds.Free(now, e.ID, e.Players, e.Capacity)}
		for i := range e.Places {
			c.Regions = append(c.Regions, e.Places[i].Region)
		}
		list, entries = append(list, c), append(entries, e)
	}
	i := lobby.Choose(o.Players, o.Region, list)
	if i < 0 {
		return noServer(o)
	}
	starts, n := l.starts(o, entries[i])
	if n == 0 {
		return errBarred
	}
	e := entries[i]
	l.holds.Hold(e.ID, n, e.Players, now+l.api.holdTime())
	l.core.Fulfil(now, o.ID, starts)
	l.deliver()
	return nil
}

// suits says whether a match can be at a server.
func (l *Lobby) suits(e *listed, o *lobby.Order, tag string) bool {
	if e.Game != o.Game || e.Mode == Relay || o.Version != "" && e.Version != o.Version ||
		o.Level != "" && e.Level != o.Level || !l.api.issues(e) && doorOf(e) == "" ||
		inBrowsers(o) && !slices.ContainsFunc(e.Places, hasPage) {
		return false
	}
	if tag != "" {
		return slices.Contains(e.Tags, tag)
	}
	// One that was started for another match is that one's, until it is there.
	return !slices.ContainsFunc(e.Tags, func(t string) bool { return l.tags[t] })
}

func (a *API) issues(e *listed) bool { return a.Issuer != nil && e.Tokens }

func doorOf(e *listed) string {
	for i := range e.Places {
		if e.Places[i].Door != "" {
			return e.Places[i].Door
		}
	}
	return ""
}

// starts makes what each player needs, and says how many of them may come.
func (l *Lobby) starts(o *lobby.Order, e *listed) (out map[uint64]*lobby.Start, n int) {
	out = map[uint64]*lobby.Start{}
	keys := l.api.Book.keysOf(e.ID)
	for i := range o.Players {
		p := &o.Players[i]
		s := &lobby.Start{Match: o.Match(), Game: e.Game, Entry: e.ID, Name: e.Name}
		out[p.Client] = s
		place := nearestPlace(p, e)
		s.UDP, s.WS, s.WT = place.Addresses.UDP, place.Addresses.WS, place.Addresses.WT
		if hasPage(*place) {
			s.Page = pageOf(place)
		}
		who := Account{Client: p.Client, Name: p.Name}
		if !l.api.issues(e) {
			s.Door = doorOf(e)
		} else if t, err := l.api.issue(who, p.From, e, keys); err != nil {
			s.Why = err.Error()
			continue
		} else {
			s.Token, s.Expires = t.Token, t.Expires
		}
		n++
	}
	return out, n
}

// nearestPlace is the place of an entry that is nearest to a player: for one in a browser, of those
// with a page.
func nearestPlace(p *lobby.Player, e *listed) *Place {
	best, least := -1, -1
	for i := range e.Places {
		if p.Page && !hasPage(e.Places[i]) {
			continue
		}
		t, ok := p.Trips[e.Places[i].Region]
		if best < 0 || ok && (least < 0 || t < least) {
			best = i
			if ok {
				least = t
			}
		}
	}
	return &e.Places[max(best, 0)]
}

// hasPage says whether people play on a page of a place.
func hasPage(p Place) bool { return p.Page && p.Addresses.WS != "" }

// pageOf is where the page of a place is: at the root of where its WebSocket is.
func pageOf(p *Place) string {
	u, err := url.Parse(p.Addresses.WS)
	if err != nil {
		return "" // addresses were checked when they were claimed
	}
	scheme := "http"
	if u.Scheme == "wss" {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: u.Host, Path: "/"}).String()
}
