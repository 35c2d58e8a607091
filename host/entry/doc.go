// Package entry is how a client gets into a server that serves a title: it asks for a token, and
// opens a link.
//
//	base, err := entry.Base("localhost:4000", "")
//	answer, err := entry.Ask(ctx, base)          // from an open server, over HTTP
//	at, err := answer.Resolve(ctx, base)
//	link, err := entry.Bind(udp.Options{}, at)   // all that client.Options needs
//
// In the browser a Page does all of it, by the page that the program runs in:
//
//	var page entry.Page
//	way, answer, err := page.Join(ctx)
//
// Programs made by package host do this by themselves. It is for clients of their own, such as that
// of games/arena.
package entry
