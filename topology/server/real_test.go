package server

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if order := os.Getenv(floodOrder); order != "" {
		if err := flooding(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// TestRealSockets: a server on UDP, WebSocket and memory at once, with clients over each, in real
// time; the level changes, and the server stops and says so.
func TestRealSockets(t *testing.T) {
	socket, err := udp.Listen("127.0.0.1:0", udp.Options{})
	must(t, err)
	web := websocket.NewServer(websocket.Options{})
	site := httptest.NewServer(web)
	defer site.Close()
	hub := mem.NewHub(mem.Options{})
	host, err := hub.Open(netip.AddrPort{})
	must(t, err)

	s, err := New(Options{Title: yardTitle(20, 100, 100), Workers: 2,
		Links: []link.Link{socket, web, host}})
	must(t, err)
	ctx, stop := context.WithCancelCause(t.Context())
	var running sync.WaitGroup
	var served error
	running.Go(func() { served = s.Run(ctx) })

	shown := make(chan int, 1000)
	ended := make(chan error, 10)
	var clients []*client.Client
	title := yardTitle(20, 100, 100)
	join := func(i int, l link.Link, at netip.AddrPort) {
		var c *client.Client
		var err error
		must(t, s.Do(t.Context(), func() {
			tok, e := s.Token(uint64(i+1), nil, time.Minute)
			if err = e; err == nil {
				c, err = client.New(client.Options{Title: title, Style: predict.Style(i % 4),
					Predict: predict.Options{Keep: 64}, Link: l, Token: tok,
					Servers: []netip.AddrPort{at}, Name: fmt.Sprint("c", i)})
			}
		}))
		must(t, err)
		clients = append(clients, c)
		walks := func(_ world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
			_ = world.Give(in, p, walk{X: 1})
		}
		tick := func(now time.Duration) error {
			v := c.Frame(now, walks)
			if v.Fresh {
				// the server has taken commands
				if x := walkerOf(v.Truth, v.Me); x != nil && x.Steps > 5 {
					select {
					case shown <- i:
					default:
					}
				}
			}
			return v.Err
		}
		running.Go(func() {
			ended <- drive.Loop{Step: yard.TickLength(), Tick: tick}.Run(t.Context())
		})
	}
	for i := range 3 {
		l, err := udp.Listen("127.0.0.1:0", udp.Options{})
		must(t, err)
		join(i, l, socket.LocalAddr())
	}
	ws, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(site.URL, "http"),
		websocket.Options{})
	must(t, err)
	join(3, ws, ws.Peer())
	own, err := hub.Open(netip.AddrPort{})
	must(t, err)
	join(4, own, host.LocalAddr())

	all := func() {
		t.Helper()
		seen := map[int]bool{}
		for len(seen) < len(clients) {
			select {
			case i := <-shown:
				seen[i] = true
			case err := <-ended:
				t.Fatalf("a client ended: %v", err)
			}
		}
	}
	all()
	must(t, s.Do(t.Context(),
		func() { err = s.Change(Level{Name: "next", Data: []byte{9, 9, 9}}) }))
	must(t, err)
	for len(shown) > 0 {
		<-shown
	}
	all()
	must(t, s.Do(t.Context(), func() {
		if p := s.Population(); p.Players != 5 {
			t.Errorf("%+v", p)
		}
		for seat := range s.Seats {
			if seat.Quality().RoundTrip <= 0 || seat.Commands().Taken == 0 {
				t.Errorf("%s: %+v, %+v", seat.Name, seat.Quality(), seat.Commands())
			}
		}
		if st := s.Stats(); st.Ticks == 0 || st.Times.Work() <= 0 || st.Times.Elapsed() <= 0 ||
			st.Replica.Bytes == 0 {
			t.Errorf("%+v", st)
		}
	}))
	stop(errors.New("the cleaners are here"))
	for range clients {
		var end *client.EndError
		if err := <-ended; !errors.As(err, &end) || end.Reason != conn.ReasonClosing ||
			end.Note != "the cleaners are here" {
			t.Errorf("%v", err)
		}
	}
	running.Wait()
	must(t, served)
	if err := s.Do(t.Context(), func() {}); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
	ledger, counters := s.Ledger(), s.Counters()
	if ledger.Total() != counters.SentBytes {
		t.Errorf("%d bytes are booked, and %d were sent", ledger.Total(), counters.SentBytes)
	}
	for _, c := range clients {
		must(t, c.Close())
	}
	must(t, s.Close())
}
