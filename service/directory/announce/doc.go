// Package announce has a server, a mirror or a relay be listed at a directory: it registers, says
// every ten seconds that it is there, answers the directory's challenges by the server's own
// socket, and says goodbye. It is an HTTP client, and compiles no database.
//
//	a := announce.New(announce.Options{URL: "https://find.example.org", Key: key})
//	socket = answer.Over(socket, a)  // answers challenges; see link/answer
//	mux.Handle(directory.ProofPath, a)
//	go a.Run(ctx, says, now)
//
// A directory that is away costs the game nothing: it is tried again, ever less often, and the
// entry is back by itself.
package announce
