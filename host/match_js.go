//go:build coevalmatch

package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// meet plays in matches at a relay, one after the other, as the page says.
func (p *Program) meet() error {
	c, err := entry.Choose("")
	if err != nil {
		return err
	}
	t, err := p.playedBy(c.Game)
	if err != nil {
		return err
	}
	if !t.Screen.Drawn() {
		return fmt.Errorf("%s cannot be shown here: its title has no Screen to draw with", t.Name())
	}
	var way entry.Page
	var shown *page
	for {
		m, err := newMatched(t, &c, &way)
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case shown == nil:
			shown = newPage(t, m)
			way.Came = shown.came
			shown.hud.Keys = peer.MatchKeys
			shown.autopilot(entry.Configured("autopilot"))
			shown.open("say")
			way.Export(shown.stats, shown.set)
		default:
			shown.session = m
		}
		if err == nil {
			<-m.over
			if why = m.Over(); shown.failed != "" {
				return nil // the page says it
			}
		}
		if c, err = entry.Choose(why); err != nil {
			return err
		}
	}
}

// came plays when something has come and no frames are drawn: the timers of a page that nobody
// looks at are slow.
func (p *page) came() {
	if now := time.Now(); now.Sub(p.played) > 8*time.Millisecond {
		p.played = now
		p.unseen()
	}
}

// matched is a match at a relay.
type matched struct {
	*peer.Paged
	over       chan struct{} // closed when it is
	ended      bool
	told, kept string
	begun      bool
}

// newMatched makes the session of what somebody has chosen.
func newMatched(t *game.Title, c *entry.Choice, way *entry.Page) (*matched, error) {
	style := peers.Rollback()
	if c.Style == "lockstep" {
		style = peers.Lockstep()
	} else if c.Depth > 0 {
		style.Depth = min(c.Depth, peers.MaxDepth)
	}
	if c.Delay >= 0 {
		style.Delay = min(c.Delay, peers.MaxDelay)
	}
	o := peer.PagedOptions{
		Title: t, Name: shorten(c.Name, relay.MaxName), Style: style, Code: c.Code, Back: c.Kept,
		Watch: c.Watch && c.Code != "", Behind: min(c.Behind, relay.MaxDelay),
		Wall: time.Now().Unix(), Wait: c.Wait, Packets: c.Packets, Token: way.Token,
		Join: func(ctx context.Context) (client.Entry, error) {
			e, _, err := way.Join(ctx)
			return e, err
		},
	}
	if c.Code == "" {
		o.Level = game.Level{Name: c.Level, Data: c.Data, Seed: cmp.Or(c.Seed, draw64()),
			Secret: draw64()}
		if c.Level == "" && len(c.Data) == 0 {
			o.Level.Name = t.Levels.First()
		}
		if _, err := t.Settings(o.Level); err != nil {
			return nil, err
		}
		o.Found = &peers.Match{
			Level: o.Level.Name, Data: c.Data, Seed: o.Level.Seed, Seats: cmp.Or(c.Seats, 8),
			Start: cmp.Or(c.Start, 2), Grace: c.Grace, End: c.End,
		}
	}
	s, err := peer.NewPaged(o)
	if err != nil {
		return nil, err
	}
	return &matched{Paged: s, over: make(chan struct{})}, nil
}

// shorten cuts a text to so many bytes.
func shorten(text string, most int) string {
	for i, r := range text {
		if i+utf8.RuneLen(r) > most {
			return text[:i]
		}
	}
	return text
}

// draw64 gives a number that nobody can foresee.
func draw64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// Frame tells the page what it should know of the match.
func (m *matched) Frame(now time.Duration, command client.Command) client.View {
	v := m.Paged.Frame(now, command)
	if m.ended {
		return v
	}
	if code, kept := m.Code(), m.Kept(); code != "" && (code != m.told || kept != m.kept) {
		m.told, m.kept = code, kept
		entry.Told(code, kept)
	}
	if !m.begun && m.Together() {
		m.begun = true
		entry.Begun()
	}
	if v.Ended {
		m.ended = true
		close(m.over)
	}
	return v
}

var matchKeys = []pageKey{
	{game.KeyI, "invite", ""}, {game.KeyL, "style", ""}, {game.KeyP, "style", ""},
	{game.KeyJ, "delay", "-"}, {game.KeyK, "delay", "+"},
}

func (m *matched) keys() []pageKey                      { return matchKeys }
func (m *matched) hands(*page)                          {}
func (m *matched) status(said string, _ float64) string { return said }
func (m *matched) line() string                         { return m.Line() }

func (m *matched) set(p *page, name, value string) {
	switch name {
	case "invite":
		entry.Share()
	case "style":
		m.SetStyle(value)
		text := "lock step"
		if m.Style().Depth > 0 {
			text = "rollback"
		}
		p.hud.Announce(p.now(), text)
	case "delay":
		by := 1
		if value == "-" {
			by = -1
		}
		m.Later(by)
	case "quit", "panicked":
		m.Leave()
	}
}

func (m *matched) tell(_ *page, out map[string]any) { m.Tell(out) }

var _ hud.Session = (*matched)(nil)
