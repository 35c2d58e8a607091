package find

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host/internal/terminal/terminaltest"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/survey"
)

// made is a server of the list with places that are each so many milliseconds away. Below zero one
// has not answered.
func made(name string, trips ...int) *Server {
	e := directory.Entry{ID: name, Name: name, Game: "pong", Mode: directory.Server,
		Version: "00000000000000aa", Capacity: 8}
	for i := range trips {
		p := directory.Place{Name: fmt.Sprint("place", i), Door: "http://192.0.2.1:4000/token"}
		p.Addresses.UDP = fmt.Sprintf("192.0.2.1:%d", 4000+i)
		e.Places = append(e.Places, p)
	}
	s := newServer(e)
	for i, trip := range trips {
		est := survey.Estimate{Place: i, Sent: 10}
		if trip >= 0 {
			est.Round, est.Jitter, est.Answered = time.Duration(trip)*ms, ms, 10
		}
		s.Places[i].measured(est)
	}
	s.nearest()
	return s
}

// TestHindrance: what cannot be joined is known before it is tried.
func TestHindrance(t *testing.T) {
	t.Parallel()
	versions := map[string]string{"pong": "00000000000000aa"}
	for want, change := range map[string]func(s *Server){
		"":              func(*Server) {},
		"relay":         func(s *Server) { s.Mode = directory.Relay },
		"other game":    func(s *Server) { s.Game = "tanks" },
		"other version": func(s *Server) { s.Version = "00000000000000bb" },
		"full":          func(s *Server) { s.Players = 8 },
		"browsers only": func(s *Server) { *s = *newServer(directory.Entry{Game: "pong"}) },
		"needs a token": func(s *Server) { s.Places[0].Door = "" },
	} {
		s := made("x", 5)
		if change(s); s.hinder(versions) != want {
			t.Errorf("%q, want %q", s.hinder(versions), want)
		}
	}
	s := made("x", 5)
	s.Places[0].Door, s.Tokens, s.Version = "", true, ""
	if got := s.hinder(versions); got != "" {
		t.Errorf("with tokens of the directory: %q", got)
	}
}

// TestOrder: the nearest place of a group counts, those that do not answer come last, and what is
// equal otherwise is ordered by the way.
func TestOrder(t *testing.T) {
	t.Parallel()
	a, b, c, d := made("A", 50, 20), made("b", 30), made("c", -1), made("d", 10)
	a.Players, b.Players, c.Players, d.Players = 3, 3, 8, 0
	for by, want := range map[string]string{"rtt": "dAbc", "players": "cAbd", "room": "dAbc",
		"name": "Abcd"} {
		order, err := parseSort(by)
		if err != nil {
			t.Fatal(err)
		}
		list := []*Server{a, b, c, d}
		slices.SortFunc(list, order)
		got := ""
		for _, s := range list {
			got += s.Name
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", by, got, want)
		}
	}
}

// TestTable: the table is as documents show it, and nothing that others have written moves the
// cursor of a terminal.
func TestTable(t *testing.T) {
	t.Parallel()
	hostile := made("evil\x1b[2J\u202e name", 7)
	hostile.Region, hostile.Hindrance = "eu\n", "full"
	lines := table([]*Server{made("group", 30, 20), made("gone", -1), hostile}, 0)
	if got := strings.Join(lines, "\n"); !strings.Contains(got, "evil?[2J? name") ||
		!strings.Contains(got, "no answer") || strings.ContainsAny(got, "\x1b\u202e") ||
		!strings.Contains(lines[2], "place1") || !strings.Contains(lines[5], " full ") ||
		strings.Contains(lines[0], "level") || len(lines) != 6 {
		t.Errorf("%s", got)
	}
	for _, l := range table([]*Server{hostile}, 20) {
		if len([]rune(l)) > 20 {
			t.Errorf("%q is too wide", l)
		}
	}
}

// TestView: on a terminal the table is written over itself, and taken away at the end.
func TestView(t *testing.T) {
	t.Parallel()
	screen := terminaltest.New(60, 12)
	v := &view{out: screen, size: func() (int, int) { return 60, 12 }}
	v.say("asking the directory")
	list := []*Server{made("one", 10), made("two", 20)}
	v.show(list, 20, 0.5)
	if text := screen.Text(); !strings.Contains(text, "two") ||
		!strings.Contains(text, "50 %  measuring 2 servers") || strings.Contains(text, "asking") {
		t.Errorf("%s", text)
	}
	v.show(list[:1], 20, 1)
	if text := screen.Text(); strings.Contains(text, "two") ||
		strings.Count(text, "measuring") != 1 || !strings.Contains(text, "1 server") {
		t.Errorf("%s", text)
	}
	v.clear()
	if text := strings.TrimSpace(screen.Text()); text != "" {
		t.Errorf("%q is left", text)
	}
	var none *view
	none.say("")
	none.show(list, 1, 0)
	none.clear()
}
