// Package tools are the commands that measure and check: bench, lab, vet, codec, netsim and crimp.
// They need much that a game does not, so only programs that ask for them compile them:
//
//	func main() {
//		host.Program{Titles: []*game.Title{tanks.Title}, Tools: tools.All}.Main()
//	}
//
// In a program built for the browser, which has no commands, All is empty.
package tools
