package lobby_test

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory/lobby"
)

func newLobby(o lobby.Options) *lobby.Lobby {
	r := rand.New(rand.NewPCG(1, 2))
	o.Random = r.Uint64
	return lobby.New(o)
}

func who(n uint64) lobby.Who {
	return lobby.Who{Client: n, From: netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}), Anonymous: true}
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var e *lobby.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%v, want %s", err, code)
	}
}

// TestHost: whoever is there longest is the host when the host leaves or is silent.
func TestHost(t *testing.T) {
	l := newLobby(lobby.Options{})
	r := must2(l.Make(0, who(1), lobby.Setup{Game: "tanks"}, lobby.Profile{}))
	for n := uint64(2); n <= 4; n++ {
		_, err := l.Join(0, who(n), r.Code, lobby.Profile{Name: "x"})
		must(t, 0, err)
	}
	_, err := l.Kick(0, who(2), r.Code, 3)
	refused(t, err, "not_host")
	must(t, 0, l.Leave(0, who(1), r.Code))
	if v := l.Ping(0, who(2)).Room; v.Host != 2 || v.Size != 3 {
		t.Fatalf("%+v", v)
	}
	for now := time.Second; now <= lobby.Grace; now += time.Second {
		l.Ping(now, who(3))
		must(t, 0, l.Listen(now, who(4), now == time.Second))
		l.Tick(now)
	}
	if v := l.Ping(lobby.Grace, who(3)).Room; v.Host != 3 || v.Size != 2 {
		t.Fatalf("%+v", v)
	}
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestKick: whoever is removed does not come back, not even as somebody else from the same address,
// but friends of those who are there do.
func TestKick(t *testing.T) {
	l := newLobby(lobby.Options{})
	r := must2(l.Make(0, who(1), lobby.Setup{Game: "tanks"}, lobby.Profile{}))
	must2(l.Join(0, who(2), r.Code, lobby.Profile{}))
	friend := who(1)
	friend.Client = 11
	must2(l.Join(0, friend, r.Code, lobby.Profile{}))
	must2(l.Kick(0, who(1), r.Code, 2))
	must2(l.Kick(0, who(1), r.Code, 11))
	_, err := l.Join(0, who(2), r.Code, lobby.Profile{})
	refused(t, err, "kicked")
	again := who(2)
	again.Client = 22
	_, err = l.Join(0, again, r.Code, lobby.Profile{})
	refused(t, err, "kicked")
	friend.Client = 12
	must2(l.Join(0, friend, r.Code, lobby.Profile{}))
	_, err = l.Kick(0, who(1), r.Code, 1)
	refused(t, err, "bad_request")
}

// TestBounds: rooms, people of one address, members and lines of chat are bounded.
func TestBounds(t *testing.T) {
	l := newLobby(lobby.Options{MostRooms: 2, MostPeople: 5, MostFrom: 3})
	setup := lobby.Setup{Game: "tanks", Most: 2}
	r := must2(l.Make(0, who(1), setup, lobby.Profile{}))
	must2(l.Make(0, who(2), setup, lobby.Profile{}))
	_, err := l.Make(0, who(3), setup, lobby.Profile{})
	refused(t, err, "full")
	must2(l.Join(0, who(3), r.Code, lobby.Profile{}))
	_, err = l.Join(0, who(4), r.Code, lobby.Profile{})
	refused(t, err, "room_full")
	_, err = l.Join(0, who(2), r.Code, lobby.Profile{})
	refused(t, err, "in_room")
	_, err = l.Make(0, who(4), lobby.Setup{Game: "tanks", Most: 65}, lobby.Profile{})
	refused(t, err, "bad_request")
	for range 5 {
		must(t, 0, l.Say(0, who(1), r.Code, "x"))
	}
	refused(t, l.Say(0, who(1), r.Code, "x"), "too_fast")
	must(t, 0, l.Say(time.Second, who(1), r.Code, "x"))
	refused(t, l.Say(time.Second, who(4), r.Code, "x"), "not_member")
	refused(t, l.Leave(0, who(1), "ZZZZZZ"), "unknown_room")
	must(t, 0, l.Listen(0, who(5), true))
	refused(t, l.Listen(0, who(6), true), "full")
	l = newLobby(lobby.Options{MostFrom: 2})
	for n := uint64(1); n <= 3; n++ {
		w := who(9)
		if w.Client = n; n < 3 {
			must(t, 0, l.Listen(0, w, true))
		} else {
			refused(t, l.Listen(0, w, true), "too_many")
		}
	}
}

// TestStart: a match begins when all are ready, or anyway; those who are there are told where.
func TestStart(t *testing.T) {
	l := newLobby(lobby.Options{})
	r := must2(l.Make(0, who(1), lobby.Setup{Game: "tanks"}, lobby.Profile{}))
	must2(l.Join(0, who(2), r.Code, lobby.Profile{}))
	_, err := l.Start(0, who(1), r.Code, false)
	refused(t, err, "not_ready")
	yes := true
	must2(l.Set(0, who(2), r.Code, lobby.Me{Ready: &yes}))
	if v := must2(l.Start(0, who(1), r.Code, false)); v.State != lobby.Starting {
		t.Fatalf("%+v", v)
	}
	_, err = l.Start(0, who(1), r.Code, true)
	refused(t, err, "starting")
	_, err = l.Join(0, who(3), r.Code, lobby.Profile{})
	refused(t, err, "starting")
	o := l.Orders()
	if len(o) != 1 || len(o[0].Players) != 2 || o[0].Room != r.Code {
		t.Fatalf("%+v", o)
	}
	l.Fail(0, o[0].ID, "no room")
	if v := l.Ping(0, who(1)).Room; v.State != lobby.Open || v.Why != "no room" {
		t.Fatalf("%+v", v)
	}
	must2(l.Start(0, who(1), r.Code, true))
	o = l.Orders()
	l.Fulfil(0, o[0].ID, map[uint64]*lobby.Start{1: {Token: "one"}, 2: {Token: "two"}})
	if m := l.Ping(0, who(2)); m.Start.Token != "two" || m.Room.State != lobby.Open ||
		m.Room.Members[1].Ready {
		t.Fatalf("%+v", m)
	}
	var told []uint64
	for _, c := range l.Changes() {
		if s, ok := c.Data.(lobby.Start); ok {
			if told = append(told, c.To...); s.Token != []string{"one", "two"}[c.To[0]-1] {
				t.Errorf("%v is told %+v", c.To, s)
			}
		}
	}
	if !slices.Equal(told, []uint64{1, 2}) {
		t.Errorf("%v are told", told)
	}
}

// TestParty: a room waits as one, and goes on waiting where it was if no server has room.
func TestParty(t *testing.T) {
	l := newLobby(lobby.Options{Rule: func(string) lobby.Matcher { return lobby.Sized{Size: 3} }})
	r := must2(l.Make(0, who(1), lobby.Setup{Game: "tanks"}, lobby.Profile{}))
	must2(l.Join(0, who(2), r.Code, lobby.Profile{}))
	must2(l.EnqueueRoom(0, who(1), r.Code))
	_, err := l.Join(0, who(3), r.Code, lobby.Profile{})
	refused(t, err, "starting")
	must2(l.Enqueue(time.Second, who(4), "tanks", "", lobby.Profile{}))
	l.Tick(time.Second)
	o := l.Orders()
	if len(o) != 1 || len(o[0].Players) != 3 {
		t.Fatalf("%+v", o)
	}
	l.Fail(2*time.Second, o[0].ID, "full")
	l.Tick(3 * time.Second)
	if o := l.Orders(); len(o) != 0 {
		t.Fatalf("at once again: %+v", o)
	}
	if q := l.Ping(3*time.Second, who(2)).Queue; q == nil || q.Waited != 3 || q.Why != "full" {
		t.Fatalf("%+v", q)
	}
	l.Tick(7 * time.Second)
	o = l.Orders()
	l.Fulfil(8*time.Second, o[0].ID, map[uint64]*lobby.Start{1: {}, 2: {}, 4: {}})
	if m := l.Ping(8*time.Second, who(2)); m.Queue != nil || m.Start == nil ||
		m.Room.State != lobby.Open {
		t.Fatalf("%+v", m)
	}
}

// TestCode: people write codes in many ways.
func TestCode(t *testing.T) {
	for text, want := range map[string]string{"abcdef": "ABCDEF", "abc-def": "ABCDEF",
		" ABC DEF ": "ABCDEF", "ABCDE": "", "ABCDEO": "", "ABCDEFG": "", "": "",
		"A                        BCDEF": ""} {
		if code, ok := lobby.ParseCode(text); ok != (want != "") || ok && code != want {
			t.Errorf("%q: %q %v", text, code, ok)
		}
	}
}
