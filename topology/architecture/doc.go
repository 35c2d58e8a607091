// Package architecture has the architectures of client-server play by name: those of the classic
// games, and coeval's own. An architecture is four choices that can also be made one by one: how
// snapshots are made, how clients show what they do not know yet, when the server executes
// commands, and how many of them a packet repeats.
//
//	host, lab                         a name on a command line
//	topology/architecture                    what it stands for        <- here
//	topology/server, topology/client  what is chosen
//	replica, predict                  how it works
//
// A server and its clients of one architecture:
//
//	a, err := architecture.Parse("quakeworld")
//	so := server.Options{Title: t, Links: links}
//	a.Server(&so)
//	co := client.Options{Title: t, Link: l, Token: tok}
//	a.Client(&co)
//
// The strategies of others are part of a program that imports their packages, as package
// topology/architecture/all does. docs/clientserver.md tells what each is, and where it is known
// from.
package architecture
