// Package examples has programs of one idea each, none of them longer than 120 lines:
//
//	alone       a game that runs by itself
//	served      a server and players, over sockets
//	predicted   how soon a key is answered, with prediction and without
//	browser     a game in a browser, drawn and controlled in forty lines
//	interest    who is told what
//	lagcomp     shots that are judged by what the shooter saw
//	mirrors     one game on three servers, one of which is killed
//	market      what players have outlives the match, and trades are durable
//	loop        a loop of one's own, with Ebitengine
//
// Each is run by go run ./examples/NAME, and by the tests.
package examples
