// Package inspect shows a game while it runs: who plays and how their connections do, where every
// byte goes, what is in the world and who is shown what, and how long ticks take. A page does it,
// and any program can, by HTTP and server-sent events:
//
//	topology/server ──Do──> a look, some times a second while someone watches ──> page, programs
//
// While nobody looks nothing is asked, and a tick costs one atomic load more.
package inspect
