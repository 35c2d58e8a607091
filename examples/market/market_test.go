package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/kept/kepttest"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// TestSameEverywhere has the same two players trade alone, on a server and on two mirrors: the
// store holds the same in the end.
func TestSameEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays by the clock")
	}
	want := ""
	for _, x := range []struct {
		name string
		play func(*testing.T, *kepttest.Store)
	}{{"alone", alone}, {"server", served}, {"mirrors", mirrored}} {
		t.Run(x.name, func(t *testing.T) {
			store := kepttest.New(1)
			x.play(t, store)
			got := rows(t, store)
			if want == "" {
				want = got
			}
			if got != want || got == "" {
				t.Errorf("it is kept as %s, and alone as %s", got, want)
			}
		})
	}
}

// rows are what the store holds of Ann and Bob.
func rows(t *testing.T, s kept.Store) string {
	t.Helper()
	list, err := s.Load(t.Context(), []kept.Key{
		{Class: "Trader", Scope: kept.Account, Of: "=ann"},
		{Class: "Trader", Scope: kept.Account, Of: "=bob"}})
	if err != nil || list[0].Data == nil || list[1].Data == nil {
		t.Fatalf("%+v %v", list, err)
	}
	return hex.EncodeToString(list[0].Data) + " " + hex.EncodeToString(list[1].Data)
}

func alone(t *testing.T, s *kepttest.Store) {
	desk, err := kept.NewDesk(rules, kept.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.Open(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	bot := buyer(7)
	var seen *world.World
	run, err := solo.New(rules, solo.Options{Players: 2, Ticks: 300,
		Inputs: func(tick world.Tick, in *world.Inputs) {
			if err := desk.Tell(in); err != nil {
				t.Error(err)
			}
			if seen != nil {
				if err := bot(seen, 2, tick, in); err != nil {
					t.Error(err)
				}
			}
		},
		After: func(w *world.World, _ *world.Inputs) {
			if w.Tick()%20 == 0 {
				seen = w.Host().Clone() // what Bob sees is late, as over a network
			}
			desk.Tick(w)
			desk.Meet(w, func(yield func(world.Player, string) bool) {
				_ = yield(1, "=ann") && yield(2, "=bob")
			})
			if err := desk.Work(t.Context(), s); err != nil {
				t.Error(err)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Fast(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// trade has Ann and Bob join at addresses, and trade.
func trade(t *testing.T, key token.Key, ann, bob string) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- join(ctx, ann, key, 1, "ann", buyer(0)) }()
	err := join(ctx, bob, key, 2, "bob", watched(buyer(7), 7, 1, stop))
	if other := <-done; err != nil || other != nil {
		t.Fatal(err, other)
	}
}

func newKey(t *testing.T) token.Key {
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func served(t *testing.T, s *kepttest.Store) {
	key := newKey(t)
	server, err := host.NewServer(title, host.ServeOptions{Listen: "127.0.0.1:0", HTTP: "none",
		Keys: []token.Key{key}, Keep: host.KeepOptions{Store: s}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	trade(t, key, server.Addr().String(), server.Addr().String())
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// mirrored has Ann play at one mirror and Bob at the other.
func mirrored(t *testing.T, s *kepttest.Store) {
	key := newKey(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	players, between := freePorts(t), freePorts(t)
	for i := range 2 {
		o := host.MirrorOptions{Key: key, Listen: players[i], Mirrors: between[i],
			Address: between[i], Public: players[i], HTTP: "none", Found: i == 0, Store: s}
		if i > 0 {
			o.Join, o.Patience = between[:1], -1
		}
		go func() { ended <- host.Mirror(ctx, title, o) }()
	}
	trade(t, key, players[0], players[1])
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// freePorts finds two addresses that nobody has.
func freePorts(t *testing.T) (out []string) {
	for range 2 {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		out = append(out, fmt.Sprint(c.LocalAddr()))
	}
	return out
}

var _ game.Bot = buyer(0)
