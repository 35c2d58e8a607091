package host

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/host/internal/learned"
	"github.com/coeval-dev/coeval/host/internal/titles"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
)

// A Command is nothing in the browser, where there is no command line.
type Command func(p *Program)

// Main plays what the page joins. The page sets coevalConfig, offers coevalJoin, and draws by
// coevalScreen; see web/assets/play.js.
func (p Program) Main() {
	if err := p.main(); err != nil {
		entry.Fail(err)
	}
	select {} // what the page calls goes on
}

func (p *Program) main() error {
	if err := titles.List(p.Titles).Check(); err != nil {
		return err
	}
	if entry.Meets() {
		return p.meet()
	}
	var way entry.Page
	first, t, answer := p.first(&way)
	if !t.Screen.Drawn() {
		return fmt.Errorf("%s cannot be shown here: its title has no Screen to draw with", t.Name())
	}
	o := client.Options{Title: t, Name: entry.Config("name"), Tables: learned.Browser{}}
	style, err := predict.ParseStyle(entry.Config("style")) // the first, if none has that name
	o.Style = style
	if err := answer.Play(&o, err == nil); err != nil {
		return err
	}
	s := client.NewSession(client.SessionOptions{
		Options: o,
		Join: func(ctx context.Context) (client.Entry, error) {
			e, _, err := way.Join(ctx)
			return e, err
		},
	})
	s.Enter(first)
	page := newPage(t, &served{Served: hud.Served{Session: s}})
	page.hud.Keys = hud.ServerKeys
	page.autopilot(entry.Configured("autopilot"))
	page.open()
	entry.OfferUploads(t.Uploads, s)
	way.Export(page.stats, page.set)
	return nil
}

// first looks for a server until there is one, and says what it plays.
func (p *Program) first(way *entry.Page) (client.Entry, *game.Title, *entry.Admission) {
	wait := time.Second
	for {
		e, a, err := way.Join(context.Background())
		var t *game.Title
		if err == nil {
			t, err = p.playedBy(a.Game)
		}
		if err == nil {
			err = a.Play(&client.Options{}, false)
		}
		if err == nil {
			return e, t, &a
		}
		if e.Link != nil {
			_ = e.Link.Close() // it is of no use
		}
		entry.Fail(fmt.Errorf("%w; trying again", err))
		time.Sleep(wait)
		wait = min(2*wait, 8*time.Second)
	}
}

// playedBy finds the title that a server plays.
func (p *Program) playedBy(name string) (*game.Title, error) {
	if name == "" {
		return p.Titles[0], nil
	}
	t, err := p.Title(name)
	if err != nil {
		return nil, fmt.Errorf("the server plays %s, and this page does not have it: reload it",
			name)
	}
	return t, nil
}
