// Package web is the page that a browser shows of a game: the game itself in a frame,
// and beside it a panel with the network's sliders, live plots, and where every
// byte goes.
//
//	mux.Handle("/", web.Page(web.Options{Client: bundle}))
//
// The page is there at once. While the game's WebAssembly is still being built
// it shows how far that is, from a stream of events that the program offers at
// /api/events:
//
//	event: build   {"step": "compiling", "part": 0.4, "seconds": 3.1, "error": ""}
//	event: live    {"network": {...}, "rows": [...], ...}
//
// With Options.Index "mirrors.html" it is several games side by side, each at a
// mirror of its own, with what goes on between the mirrors.
//
// With Options.Index "peers.html" it is several players' machines side by side,
// whose frames the program draws and the page replays.
//
// A Bundle is the program for the browser, compressed once for every encoding
// that browsers take, with the script by which Go starts.
//
// Nothing is loaded from elsewhere: scripts, styles and pictures are part of
// this package, and a policy sent with the page has the browser refuse anything
// else.
package web
