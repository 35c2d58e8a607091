// Package admin lets operators see and act while a game runs: an HTTP API with roles, for one
// server or one of several mirrors, and what it keeps in a folder.
//
//	coeval admin, or any program ──HTTPS──> API ──Do──> topology/server, between two ticks
//	                                         │
//	                                       Folder: hashes of tokens, bans and mutes, the audit log
//
// A Folder is opened before the server is made, as bans count at its door:
//
//	f, err := admin.OpenFolder("admin")
//	f.Enforce(&options.Rules)
//	s, err := server.New(options)
//	api := admin.New(f, admin.Game{Title: tanks.Title, Do: s.Do, ...}, log)
//	http.Handle(admin.Path, api)
//
// Serve it over TLS, or to this machine alone; host.Serve and the command serve --admin see to
// that.
//
// # Tokens and roles
//
// Folder.MakeToken draws a secret and keeps its hash. Each request comes with one, as
// "Authorization: Bearer SECRET"; the file is read for each, so one that was revoked, or has
// expired, is refused at once. A Role says what its holder may do: Watch, Moderate, Operate. From
// an address with many wrong tokens none is tried for a while.
//
// # What is written down
//
// Everything that changes something, and everyone who was refused, is a line in the audit log. What
// operators do is there before it is done, and made durable; if it cannot be, it is not done.
//
// # Nothing by halves
//
// A level is made ready beside the game, and begins when it is. Knobs and content are tried on a
// copy of the world first: what the game panics by, or makes nothing of, does not reach the world.
// What does, comes in as an input at the beginning of a tick, the same on all mirrors and in
// recordings. Bans count once they are on disk.
//
// docs/operate.md is the page for operators, with every path.
package admin
