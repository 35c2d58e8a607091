// Package browser carries datagrams between pages and servers by whatever the
// network between them lets through: WebTransport, which is as good as UDP, or
// WebSocket where that is blocked. Neither the player nor the layers above notice
// which of them it is, nor when it changes.
//
//	page      browser.Dial ── WebTransport ──┐
//	          (js, wasm)   └─ WebSocket ─────┤
//	server                                browser.Server: one link over both
//
// A server opens both carriers and makes one link of them, so that a
// connection of package conn, which is known by its number and not by where it
// comes from, can move from one to the other:
//
//	wt, err := webtransport.Listen(":4433", webtransport.Options{Identity: identity})
//	ws := websocket.NewServer(websocket.Options{})
//	mux.Handle("/socket", ws)
//	l := browser.NewServer(wt, ws)
//
// In the page, which knows both addresses:
//
//	l, err := browser.Dial(ctx, browser.Options{
//		WebTransport: "https://127.0.0.1:4433/coeval", Hashes: hashes, WebSocket: "ws://127.0.0.1:8080/socket",
//	})
//
// Open does the same and does not wait, for a player who goes on at another
// server: it is what client.Options.Dial is given.
//
// WebTransport gets a head start. If it is not there by then, WebSocket is
// opened beside it; whichever is first is used, and if WebTransport comes
// after all, the client moves over to it. When what is used breaks, as when a
// laptop was asleep, the client begins again from the start. Meanwhile what is sent
// is lost, as it is on any network.
package browser
