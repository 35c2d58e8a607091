// Package wire is what a client and a server say to each other beside snapshots
// and commands: the control messages by which someone gets a seat and a level,
// the channels of their connection, and the reasons for which it ends.
//
//	client                                server
//	Hello: who I am, what I have  ──>
//	                              <──     Welcome: you have a seat
//	                              <──     Level: the world that is played
//	Need: I lack its data         ──>
//	Ready: show me                ──>
//	                              <──     snapshots, of package replica
//
// A Message is read and written by one function, so the two cannot differ; what
// Parse accepts, Append writes again to the same bytes. The exact bytes are in
// docs/protocol.md.
//
// The package is pure, and knows neither end: topology/client and
// topology/server both use it.
package wire
