//go:build !js

package demo

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/web"
)

// A demoServer is the server of a demo with the network before it:
//
//	browser ── WebTransport ── proxy ──┐
//	        └─ WebSocket ── stream ────┤
//	native ─── UDP ─────────── proxy ──┤
//	bots ───── memory ─────────────────┴── server
type demoServer struct {
	title    *game.Title
	kind     architecture.Kind
	values   knob.Values
	reach    *reach
	born     time.Time
	server   *server.Server
	socket   *websocket.Server
	identity *webtransport.Identity
	hub      *mem.Hub
	inner    netip.AddrPort // the server's, in memory
	network  *network
	bots     bots
	inspect  *inspect.Inspector
	quic     *proxy.Proxy
	plain    *proxy.Proxy
}

// demoKeep is how long the seat of a player is kept whose page went to sleep.
const demoKeep = 5 * time.Minute

func (d *flags) openServer(level game.Level, port int) (_ *demoServer, err error) {
	conditions, err := netsim.Lookup(d.preset)
	if err != nil {
		return nil, err
	}
	var opened []link.Link
	defer func() {
		if err != nil {
			serve.CloseAll(opened)
		}
	}()
	h := &demoServer{
		title: d.title, reach: &d.reach, born: time.Now(), hub: mem.NewHub(mem.Options{})}
	if h.identity, err = webtransport.NewIdentity(d.reach.Reach...); err != nil {
		return nil, err
	}
	wt, err := webtransport.Listen("127.0.0.1:0",
		webtransport.Options{Identity: h.identity, Origins: d.reach.Pages(port), Sessions: 64})
	if err != nil {
		return nil, err
	}
	opened = append(opened, wt)
	native, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		return nil, err
	}
	opened = append(opened, native)
	h.socket = websocket.NewServer(websocket.Options{Origins: d.reach.Pages(port), Sessions: 64})
	slow := newStream(h.socket, conditions, d.seed)
	inner, err := h.hub.Open(netip.AddrPort{})
	if err != nil {
		return nil, err
	}
	opened = append(opened, slow, inner)
	h.inner = inner.LocalAddr()
	if h.quic, err = openProxy(&d.reach, port, wt.LocalAddr(), conditions, d.seed); err != nil {
		return nil, err
	}
	if h.plain, err = openProxy(&d.reach, 0, native.LocalAddr(), conditions, d.seed+1); err != nil {
		return nil, err // the first ends with the program
	}
	h.network = &network{
		proxies: []*proxy.Proxy{h.quic, h.plain}, stream: slow, conditions: conditions,
		preset: conditions.Name}
	o := server.Options{
		Title: d.title, Level: level, Players: max(64, d.bots+16), KeepSeat: demoKeep,
		Resume: d.resume,
		Links:  []link.Link{browser.NewServer(wt, slow), native, inner},
	}
	h.inspect = inspect.New(inspect.Options{Hosts: d.reach.Reach, Game: admin.Game{
		Title: d.title, Server: func() *server.Server { return h.server },
		Do: func(ctx context.Context, f func()) error { return h.server.Do(ctx, f) }}})
	o.Ticked = h.inspect.Ticked
	d.kind.Server(&o)
	if err := d.kind.Tune(d.values, &o, &client.Options{}); err != nil {
		return nil, err
	}
	h.kind, h.values = d.kind, d.values
	h.server, err = server.New(o)
	if err != nil {
		return nil, err
	}
	h.bots = newBots(d.title, d.bots, d.seed, h.join)
	return h, nil
}

// openProxy puts the network before a server: at a port of its own, or the next that is free.
func openProxy(r *reach, port int, to netip.AddrPort, c netsim.Conditions,
	seed uint64) (*proxy.Proxy, error) {
	p, err := proxy.New(proxy.Options{Listen: r.at(port), To: to.String(),
		Conditions: c, Seed: seed, Idle: 2 * time.Minute})
	if port != 0 && errors.Is(err, syscall.EADDRINUSE) {
		return openProxy(r, 0, to, c, seed) // the page tells its browser which it is
	}
	return p, err
}

// run drives everything until the context ends.
func (h *demoServer) run(ctx context.Context) error {
	var work sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// the network outlasts the server, so that players hear of its end
	around, end := context.WithCancel(context.Background())
	for _, p := range h.network.proxies {
		work.Go(func() {
			if err := p.Run(around); err != nil {
				cancel()
			}
		})
	}
	work.Go(func() { h.bots.run(around) })
	err := h.server.Run(ctx)
	h.inspect.Close()
	end()
	work.Wait()
	return err
}

func (h *demoServer) close() { _ = h.server.Close() }

// join makes the client of a bot.
func (h *demoServer) join(i int) (*client.Client, error) {
	t, err := h.token(uint64(i+1)<<32 | 1)
	if err != nil {
		return nil, err
	}
	l, err := h.hub.Open(netip.AddrPort{})
	if err != nil {
		return nil, err
	}
	o := client.Options{Title: h.title, Name: load.BotName(i), Link: l, Token: t,
		Servers: []netip.AddrPort{h.inner}}
	h.kind.Client(&o)
	if err := h.kind.Tune(h.values, &server.Options{}, &o); err != nil {
		return nil, err
	}
	o.Style = predict.None
	return client.New(o)
}

func (h *demoServer) token(client uint64) (t token.Token, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return t, errors.Join(h.server.Do(ctx,
		func() { t, err = h.server.Token(client, nil, time.Hour) }), err)
}

func (h *demoServer) page() web.Options {
	return web.Options{Connect: h.reach.Origins("https", int(h.quic.Addr().Port()))}
}

func (h *demoServer) mount(mux *http.ServeMux, refused *serve.Refusals) {
	mux.Handle("/coeval", h.socket)
	a := entry.Admission{
		Game: h.title.Name(), UDP: h.plain.Addr().Port(), WebSocket: "/coeval",
		WebTransport: h.quic.Addr().Port(),
	}
	serve.Describe(&a, h.kind)
	a.Knobs = architecture.ForClients(h.values).String()
	d := serve.NewDoor(h.server, a, h.identity, true)
	d.Origin, d.Refusals = web.Pages(), refused
	d.Admit = h.seats(d.Admit)
	mux.Handle("/token", d)
	mux.Handle("GET /status", serve.StatusPage(h.server, h.title, true))
	mux.Handle("POST /api/network", wish("setting of the network", h.network.set, h.network.state))
}

// A seatAdmission is the answer of /token, with what to ask by to have the same seat again.
type seatAdmission struct {
	entry.Admission
	Seat string `json:"seat"`
}

// ofPage are set in the number of whoever has a page, as bots have others.
const ofPage = 1<<63 | 1

// seats lets a page that is loaded anew have its seat again: it gives the number by which it was
// admitted, which nobody else knows.
func (h *demoServer) seats(admit func(*http.Request) (any, int, error)) func(*http.Request) (any,
	int, error) {
	return func(r *http.Request) (any, int, error) {
		answer, status, err := admit(r)
		a, ok := answer.(entry.Admission)
		if err != nil || !ok {
			return answer, status, err
		}
		seat := cli.Draw() | ofPage
		if text := r.URL.Query().Get("seat"); text != "" {
			if seat, err = strconv.ParseUint(text, 16, 64); err != nil || seat&ofPage != ofPage {
				return nil, http.StatusBadRequest,
					errors.New("that is no seat of this demo: ask without")
			}
		}
		t, err := h.token(seat)
		a.Token = t.Text()
		return seatAdmission{a, strconv.FormatUint(seat, 16)}, http.StatusServiceUnavailable, err
	}
}

func (h *demoServer) every() time.Duration { return 250 * time.Millisecond }

// state asks the server how it does.
func (h *demoServer) state(ctx context.Context) (any, error) { return h.live(ctx) }

func (h *demoServer) live(ctx context.Context) (liveState, error) {
	out, err := serve.Ask(ctx, h.server.Do, func() liveState {
		st, l := serve.StatusOf(h.server), h.server.Ledger()
		limit := 0
		for seat := range h.server.Seats {
			if q := seat.Quality(); q.Limit > 0 && (limit == 0 || q.Limit < limit) {
				limit = q.Limit
			}
		}
		return liveState{
			Limit:   limit,
			Players: st.Players, Away: st.Away, Clients: h.server.Population().Connections,
			Map: st.Level, Tick: st.Tick, TickMS: st.TickMS,
			Sent: h.server.Counters().SentBytes, Rows: byteRows(h.server, &l),
		}
	})
	out.Seconds = time.Since(h.born).Seconds()
	out.Presets, out.Network = cli.Presets(), h.network.state()
	return out, err
}
