//go:build !js

// Package queries has a program that serves answer those who have not joined it: over UDP at the
// port of its players, and over HTTP for browsers. It also has the command that asks.
package queries

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/answer"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"

	"github.com/spf13/pflag"
)

// Flag adds --queries.
func Flag(f *pflag.FlagSet, answers *string) {
	f.StringVar(answers, "queries", query.DefaultKinds.String(),
		"what is told to those who have not joined, of "+query.AllKinds.String()+
			" (own are the game's own); all, or none")
}

// Kinds are what --queries says; nothing is the default.
func Kinds(answers string) (query.Kinds, error) {
	if answers == "" {
		return query.DefaultKinds, nil
	}
	k, err := query.ParseKinds(answers)
	if err != nil {
		return 0, fmt.Errorf("--queries: %w", err)
	}
	return k, nil
}

// A Subject is what is told of, as the program knows it. Its functions are called by the goroutine
// that drives what is served, which Do has something called by.
type Subject struct {
	Info func(*query.Info)
	Who  func([]query.Player) []query.Player
	// Title is the game, and World its world, or nil while there is none.
	Title *game.Title
	World func() *world.World
	Do    func(ctx context.Context, f func()) error
}

// A Desk answers queries. Nil answers none.
type Desk struct {
	subject   Subject
	log       *slog.Logger
	responder *query.Responder
	link      *answer.Link
	pages     pages
	failed    map[string]bool // own queries that panicked, so that it is said once
}

// Open makes a desk that answers some kinds, or nil if that is none.
func Open(answers string, s Subject, log *slog.Logger) (*Desk, error) {
	k, err := Kinds(answers)
	if err != nil || k == 0 {
		return nil, err
	}
	d := &Desk{subject: s, log: log, failed: map[string]bool{}}
	o := query.AnswerOptions{Answers: k, Info: s.Info, Who: s.Who, Message: d.message}
	if _, err := rand.Read(o.Seed[:]); err != nil {
		return nil, err
	}
	if s.Title != nil {
		for _, q := range s.Title.Queries {
			o.Own = append(o.Own, query.OwnQuery{Name: q.Name, Every: q.Every,
				Answer: func(to []byte) []byte { return d.own(&q, to) }})
		}
	}
	d.responder = query.NewResponder(o)
	return d, nil
}

// own has the game answer. A game that panics over a question goes on without having answered it.
func (d *Desk) own(q *game.Query, to []byte) (out []byte) {
	defer func() {
		if p := recover(); p != nil {
			if out = nil; !d.failed[q.Name] {
				d.failed[q.Name] = true
				d.log.Error("the game panicked over a query", "query", q.Name, "panic",
					fmt.Sprint(p))
			}
		}
	}()
	if w := d.subject.World(); w != nil {
		return q.Answer(w, to)
	}
	return to
}

// message shows what somebody wants the operator to read. Operators see it in the log.
func (d *Desk) message(from netip.AddrPort, text string) {
	d.log.Info("a message from somebody who has not joined", "from", from.String(), "text", text)
}

// Link has a link answer queries, and whatever else others answer on it.
func (d *Desk) Link(l link.Link, others ...answer.Answerer) link.Link {
	if d == nil && len(others) == 0 {
		return l
	}
	if d == nil {
		return answer.Over(l, others...)
	}
	d.link = answer.Over(l, append([]answer.Answerer{d.responder}, others...)...)
	return d.link
}

// now is the time by which answers are made.
func (d *Desk) now() time.Duration { return d.link.Now() }

// Counts tell what was asked and answered over UDP. It is for the goroutine that drives.
func (d *Desk) Counts() query.Counts {
	if d == nil {
		return query.Counts{}
	}
	return d.responder.Counts()
}

// Describe fills in what is known of a server: its level, who plays, whether it stands still.
func Describe(i *query.Info, s *server.Server) {
	p := s.Population()
	i.Level, i.Paused, i.Draining = s.Level().Name, s.Paused(), s.Draining()
	i.Players, i.Capacity = number(p.Players), number(s.MostPlayers())
}

// Seated lists who is at a server, players first, in the order of their numbers.
func Seated(to []query.Player, s *server.Server) []query.Player {
	seats := slices.SortedFunc(s.Seats, func(a, b *server.Seat) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Client, b.Client))
	})
	for _, seat := range seats {
		to = append(to, query.Player{Name: seat.Name, Watches: seat.Spectator(), Away: seat.Away(),
			Ping:    number(int(seat.Quality().RoundTrip.Milliseconds())),
			Seconds: uint32(max(s.Sitting(seat), 0) / time.Second)})
	}
	return to
}

func rank(s *server.Seat) int {
	if s.Spectator() {
		return 1 << 16
	}
	return int(s.Player)
}

func number(n int) uint16 { return uint16(min(max(n, 0), 1<<16-1)) }
