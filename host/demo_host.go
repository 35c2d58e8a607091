//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// A demoHost is the server of a demo with the network before it:
//
//	browser ── WebTransport ── proxy ──┐
//	        └─ WebSocket ── shaped ────┤
//	native ─── UDP ─────────── proxy ──┤
//	bots ───── memory ─────────────────┴── server
type demoHost struct {
	server   *server.Server
	socket   *websocket.Server
	bulletin *bulletin
	network  *demoNetwork
	bots     *demoBots
	proxies  []*proxy.Proxy
}

// demoKeep is how long the seat of a player is kept whose page went to sleep.
const demoKeep = 5 * time.Minute

func (d *demo) openHost(level game.Level, port int) (h *demoHost, err error) {
	conditions, err := netsim.Lookup(d.preset)
	if err != nil {
		return nil, err
	}
	var opened []link.Link
	defer func() {
		if err != nil {
			for _, l := range opened {
				_ = l.Close()
			}
		}
	}()
	identity, err := webtransport.NewIdentity("127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	wt, err := webtransport.Listen("127.0.0.1:0", webtransport.Options{Identity: identity, AnyOrigin: true, Sessions: 64})
	if err != nil {
		return nil, err
	}
	opened = append(opened, wt)
	native, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		return nil, err
	}
	opened = append(opened, native)
	h = &demoHost{socket: websocket.NewServer(websocket.Options{AnyOrigin: true, Sessions: 64})}
	shaped := newShaped(h.socket, conditions, d.seed)
	hub := mem.NewHub(mem.Options{})
	inner, err := hub.Open(netip.AddrPort{})
	if err != nil {
		return nil, err
	}
	opened = append(opened, shaped, inner)

	var quic, plain *proxy.Proxy
	if quic, err = openProxy(port, wt.LocalAddr(), conditions, d.seed); err != nil {
		return nil, err
	}
	if plain, err = openProxy(0, native.LocalAddr(), conditions, d.seed+1); err != nil {
		return nil, err // the first ends with the program
	}
	h.proxies = []*proxy.Proxy{quic, plain}
	h.network = &demoNetwork{proxies: h.proxies, shaped: shaped, conditions: conditions, preset: conditions.Name}

	o := serverOptions(d.title, level, replica.Coeval)
	o.Links, o.Players, o.KeepSeat = []link.Link{browser.NewServer(wt, shaped), native, inner}, 64, demoKeep
	if h.server, err = server.New(o); err != nil {
		return nil, err
	}
	h.bulletin = newBulletin(d.title, replica.Coeval, true)
	h.bulletin.server, h.bulletin.identity, h.bulletin.websocket = h.server, identity, true
	h.bulletin.udp, h.bulletin.webtransport = plain.Addr().Port(), quic.Addr().Port()
	if h.bots, err = newDemoBots(d.title, h.server, hub, inner.LocalAddr(), d.bots, d.seed); err != nil {
		_ = h.server.Close()
		opened = nil // the server had them
		return nil, err
	}
	return h, nil
}

// openProxy puts the network before a server: at a port of its own, or the next that is free.
func openProxy(port int, to netip.AddrPort, c netsim.Conditions, seed uint64) (*proxy.Proxy, error) {
	p, err := proxy.New(proxy.Options{Listen: fmt.Sprintf("127.0.0.1:%d", port), To: to.String(), Conditions: c, Seed: seed, Idle: 2 * time.Minute})
	if port != 0 && errors.Is(err, syscall.EADDRINUSE) {
		return openProxy(0, to, c, seed) // the page tells its browser which it is
	}
	return p, err
}

// run drives everything until the context ends.
func (h *demoHost) run(ctx context.Context) error {
	var work sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	around, end := context.WithCancel(context.Background()) // the network outlasts the server, so that players hear of its end
	for _, p := range h.proxies {
		work.Go(func() {
			if err := p.Run(around); err != nil {
				cancel()
			}
		})
	}
	work.Go(func() { h.bots.run(around) })
	err := h.server.Run(ctx)
	end()
	work.Wait()
	return err
}

func (h *demoHost) close() { _ = h.server.Close() }
