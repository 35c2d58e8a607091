package directory_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/records"
	"github.com/coeval-dev/coeval/service/store"
	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// TestLife: a server registers, says that it is there, and goodbye; one that is silent for three
// times is gone; nobody else can change its entry; and what was acknowledged is there after a
// restart.
func TestLife(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url, nil)
		a, b, eve := newSpeaker(1), newSpeaker(2), newSpeaker(3)
		s.want(200)(a.register(s.http.URL))
		s.want(200)(b.register(s.http.URL))
		if p := s.list(""); len(p.Entries) != 2 || p.Next != "" {
			t.Fatalf("%+v", p)
		}
		s.pass(20 * time.Second)
		a.says.Players, a.says.Level = 3, "the bridge"
		s.want(200)(a.alive(s.http.URL))
		s.pass(10 * time.Second)
		p := s.list("")
		if len(p.Entries) != 1 || p.Entries[0].ID != a.is.ID || p.Entries[0].Players != 3 ||
			p.Entries[0].Level != "the bridge" {
			t.Fatalf("%+v", p)
		}
		s.want(404)(b.alive(s.http.URL))

		eve.is, eve.seq = a.is, a.seq+10
		s.want(403)(eve.alive(s.http.URL))
		s.want(403)(eve.goodbye(s.http.URL))
		a.seq -= 2
		s.want(409)(a.alive(s.http.URL)) // somebody repeats what they heard
		a.seq += 2
		s.close()

		s = open(t, url, nil)
		if p := s.list(""); len(p.Entries) != 1 || p.Entries[0].ID != a.is.ID {
			t.Fatalf("after a restart: %+v", p)
		}
		s.want(200)(a.alive(s.http.URL))
		s.want(200)(a.goodbye(s.http.URL))
		if p := s.list(""); len(p.Entries) != 0 {
			t.Fatalf("%+v", p)
		}
		s.close()
		s = open(t, url, nil)
		if p := s.list(""); len(p.Entries) != 0 {
			t.Fatalf("after a goodbye and a restart: %+v", p)
		}
	})
}

// TestOtherPrograms: a database is one program's.
func TestOtherPrograms(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		game, err := store.Open(t.Context(), url, store.Options{Game: "tanks"})
		must(t, err)
		must(t, game.Close())
		if _, err := records.Open(t.Context(), url); err == nil ||
			!strings.Contains(err.Error(), "another program") {
			t.Errorf("a game's database: %v", err)
		}
	})
	url := t.TempDir() + "/d.db"
	k, err := records.Open(t.Context(), url)
	must(t, err)
	must(t, k.Close())
	if _, err := store.Open(t.Context(), url, store.Options{Game: "tanks"}); err == nil ||
		!strings.Contains(err.Error(), "another program") {
		t.Errorf("a directory's database: %v", err)
	}
}

// TestGroup: mirrors are one entry with their places, each of which may go. An address is of
// whoever proved it last.
func TestGroup(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	a, b := newSpeaker(1), newSpeaker(1)
	b.says.Addresses.UDP = "10.0.9.9:4000"
	for i, x := range []*speaker{a, b} {
		x.says.Mode, x.says.Place, x.says.Region = directory.Mirror, []string{"Oslo", "Rome"}[i],
			[]string{"north", "south"}[i]
		x.says.Players = 10
		s.want(200)(x.register(s.http.URL))
	}
	p := s.list("region=south")
	if len(p.Entries) != 1 || len(p.Entries[0].Places) != 2 || p.Entries[0].Players != 16 {
		t.Fatalf("%+v", p) // 20 of 16 players are a lie
	}
	other := newSpeaker(1)
	other.says.Mode, other.says.Place, other.says.Game = directory.Mirror, "Bonn", "chess"
	other.says.Addresses.UDP = "10.0.9.8:4000"
	s.want(409)(other.register(s.http.URL))
	s.want(200)(a.goodbye(s.http.URL))
	if p := s.list(""); len(p.Entries) != 1 || len(p.Entries[0].Places) != 1 {
		t.Fatalf("%+v", p)
	}
	again := newSpeaker(7) // with the same address
	again.says.Addresses = b.says.Addresses
	s.want(200)(again.register(s.http.URL))
	if p := s.list(""); len(p.Entries) != 1 || p.Entries[0].ID != again.is.ID {
		t.Fatalf("%+v", p)
	}
}

// TestClockJumps: a machine that slept takes nobody for silent who had no chance to be heard.
func TestClockJumps(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	a := newSpeaker(1)
	s.want(200)(a.register(s.http.URL))
	s.pass(25 * time.Second)
	s.clock.Add(int64(time.Hour))
	s.book.Tick()
	if n, _ := s.book.Size(); n != 1 {
		t.Fatal("an hour of sleep has ended it")
	}
	s.pass(6 * time.Second)
	if n, _ := s.book.Size(); n != 0 {
		t.Fatal("it is silent and listed")
	}
}

// TestLies: numbers are brought within their ranges, and texts that are none are refused.
func TestLies(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	x := newSpeaker(1)
	x.says.Players, x.says.Capacity = 1<<40, 1<<50
	s.want(200)(x.register(s.http.URL))
	if e := s.list("").Entries[0]; e.Players != directory.MaxCapacity ||
		e.Capacity != directory.MaxCapacity {
		t.Errorf("%+v", e)
	}
	x.says.Players, x.says.Capacity = -5, 8
	s.want(200)(x.alive(s.http.URL))
	if e := s.list("").Entries[0]; e.Players != 0 || e.Capacity != 8 {
		t.Errorf("%+v", e)
	}
	for name, lie := range map[string]func(a *directory.Announcement){
		"at most 64":      func(a *directory.Announcement) { a.Name = strings.Repeat("x", 65) },
		"not a line":      func(a *directory.Announcement) { a.Name = "a\u202eb" },
		"is empty":        func(a *directory.Announcement) { a.Name = "" },
		"16 hexadecimal":  func(a *directory.Announcement) { a.Version = "latest" },
		"the mode":        func(a *directory.Announcement) { a.Mode = "boss" },
		"no address":      func(a *directory.Announcement) { a.Addresses = directory.Addresses{} },
		"one machine":     func(a *directory.Announcement) { a.Addresses.UDP = "239.1.2.3:4000" },
		"address and a":   func(a *directory.Announcement) { a.Addresses.UDP = "example.org:4000" },
		"not a URL":       func(a *directory.Announcement) { a.Addresses.WS = "script:x(1)" },
		"there are 9":     func(a *directory.Announcement) { a.Tags = make([]string, 9) },
		"begins or ends":  func(a *directory.Announcement) { a.Region = " north" },
		"only a mirror":   func(a *directory.Announcement) { a.Place = "here" },
		"not one of Ed25": func(a *directory.Announcement) { a.Key = "12" },
	} {
		y := newSpeaker(2)
		lie(&y.says)
		status, text, err := y.register(s.http.URL)
		if must(t, err); status != 400 || !strings.Contains(text, name) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// TestLists: filters, orders and pages, against a plain search of the same entries.
func TestLists(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for i := range 60 {
		x := newSpeaker(i)
		x.says.Game = []string{"tanks", "chess"}[r.IntN(2)]
		x.says.Region = []string{"", "north", "south"}[r.IntN(3)]
		x.says.Players, x.says.Capacity = r.IntN(5), r.IntN(5)
		for _, tag := range []string{"fast", "new", "bots"} {
			if r.IntN(2) == 0 {
				x.says.Tags = append(x.says.Tags, tag)
			}
		}
		s.want(200)(x.register(s.http.URL))
	}
	all := s.list("limit=200").Entries
	for range 100 {
		q, want := url.Values{}, slices.Clone(all)
		keep := func(f func(e directory.Entry) bool) {
			want = slices.DeleteFunc(want, func(e directory.Entry) bool { return !f(e) })
		}
		if r.IntN(2) == 0 {
			q.Set("game", "chess")
			keep(func(e directory.Entry) bool { return e.Game == "chess" })
		}
		if r.IntN(2) == 0 {
			q.Set("region", "north")
			keep(func(e directory.Entry) bool { return e.Region == "north" })
		}
		if r.IntN(2) == 0 {
			q.Set("room", "true")
			keep(func(e directory.Entry) bool { return e.Players < e.Capacity })
		}
		if r.IntN(2) == 0 {
			q["tag"] = []string{"fast", "bots"}
			keep(func(e directory.Entry) bool {
				return slices.Contains(e.Tags, "fast") && slices.Contains(e.Tags, "bots")
			})
		}
		if r.IntN(2) == 0 {
			q.Set("name", "SERVER 1")
			keep(func(e directory.Entry) bool { return strings.Contains(e.Name, "server 1") })
		}
		order := []string{"players", "name", "room", "new"}[r.IntN(4)]
		q.Set("sort", order)
		q.Set("limit", fmt.Sprint(1+r.IntN(20)))
		var got []directory.Entry
		for {
			p := s.list(q.Encode())
			got = append(got, p.Entries...)
			if p.Next == "" {
				break
			}
			q.Set("after", p.Next)
		}
		for i := 1; i < len(got); i++ {
			a, b := got[i-1], got[i]
			if order == "players" && a.Players < b.Players || order == "name" && a.Name > b.Name ||
				order == "room" && a.Capacity-a.Players < b.Capacity-b.Players {
				t.Fatalf("by %s: %v before %v", order, a, b)
			}
		}
		byID := func(a, b directory.Entry) int { return strings.Compare(a.ID, b.ID) }
		slices.SortFunc(got, byID)
		slices.SortFunc(want, byID)
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: got %d, want %d", q, len(got), len(want))
		}
	}
	for _, q := range []string{"colour=red", "limit=0", "limit=1000", "sort=luck", "room=maybe",
		"game=a&game=b", "after=%21", "version=1", "mode=x", "name=" + strings.Repeat("x", 300)} {
		a, err := http.Get(s.http.URL + directory.Path + "entries?" + q)
		must(t, err)
		_ = a.Body.Close()
		if a.StatusCode != 400 {
			t.Errorf("%s: %d", q, a.StatusCode)
		}
	}
}

// TestFlood: many registrations at once are written together, and each that was acknowledged is
// there.
func TestFlood(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url, nil)
		const many = 400
		var all sync.WaitGroup
		var mu sync.Mutex
		good := map[string]bool{}
		for w := range 8 {
			all.Go(func() {
				for i := w; i < many; i += 8 {
					x := newSpeaker(i)
					if status, _, err := x.register(s.http.URL); err == nil && status == 200 {
						mu.Lock()
						good[x.is.ID] = true
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		s.close()
		k, err := records.Open(t.Context(), url)
		must(t, err)
		list, err := k.Load(t.Context())
		must(t, err)
		must(t, k.Close())
		if len(good) != many || len(list) != many {
			t.Errorf("%d acknowledged, %d there", len(good), len(list))
		}
	})
}

// TestDatabaseGone: while the database is away lists are answered and servers heard, and who
// registers is told to try again; when it is back, that works by itself.
func TestDatabaseGone(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url, nil)
		a, b := newSpeaker(1), newSpeaker(2)
		s.want(200)(a.register(s.http.URL))
		back := away(t, url)
		if status, text, err := b.register(s.http.URL); err != nil || status != 503 {
			t.Errorf("%d %s %v", status, text, err)
		}
		s.want(200)(a.alive(s.http.URL))
		if p := s.list(""); len(p.Entries) != 1 {
			t.Errorf("%+v", p)
		}
		back()
		for {
			if status, _, err := b.register(s.http.URL); err == nil && status == 200 {
				break
			}
		}
		if p := s.list(""); len(p.Entries) != 2 {
			t.Errorf("%+v", p)
		}
	})
}

// away takes a database away until the function that it returns is called.
func away(t *testing.T, url string) (back func()) {
	t.Helper()
	if strings.HasPrefix(url, "postgres") {
		pg := server(t)
		must(t, pg.Crash())
		return func() { must(t, pg.Resume()) }
	}
	unlock, err := sqldb.Hold(t.Context(), url)
	must(t, err)
	return func() { must(t, unlock()) }
}

// The environment of a child that is a directory until it is killed.
const childURL = "COEVAL_DIRECTORY_CHILD"

func child(url string) {
	signal.Ignore(syscall.SIGXFSZ) // a file that may not grow is a full disk, and no reason to end
	k, err := records.Open(context.Background(), url)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	b, err := directory.NewBook(context.Background(), directory.BookOptions{Keeper: k})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go b.Run(context.Background())
	a := directory.NewAPI(b, believing{}, issuer())
	if _, err := a.AddLobby(context.Background(), directory.LobbyOptions{Scorer: k}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	b.Issues(a.Issuer.Issues)
	l := listenHTTP(a)
	fmt.Println("http://" + l)
	bufio.NewScanner(os.Stdin).Scan() // until the parent ends
}
