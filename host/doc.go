// Package host makes a program of a title: every command, sockets, tokens, HTTP, metrics and
// recordings.
//
//	package main
//
//	import (
//		"example.com/tanks"
//		"github.com/coeval-dev/coeval/host"
//	)
//
//	func main() { host.Main(tanks.Title) }
//
// That program plays the game in a terminal (play), serves it (serve), joins a server (join), plays
// with other players' machines without one (peer), loads a server with bots (bots), runs the game
// on several servers at once (mirror), shows it in a browser over a network that can be made worse
// (demo), issues tokens (token), and looks into recordings (trace, desync). With Program and
// package host/tools it also measures (bench, lab) and checks (vet).
//
//	title ──┬── Main, Program   commands
//	        ├── Serve           a server with all that is around it
//	        ├── Join            a client in a terminal, or a bot
//	        ├── Mirror          one of several servers of one game
//	        └── Play            alone
//
// Each of these is one call with an options struct whose zero value works, and needs no command
// line.
//
// Built for the browser (GOOS=js GOARCH=wasm), the same main.go is the client alone: it joins the
// server of the page that it runs in, draws the title's Screen as characters, and takes the title's
// keys. No server, command line, or metrics are compiled in.
package host
