// Package federation carries the calls and notices of a federation between machines: a program in
// any language that can speak JSON over a WebSocket is a federate by a page of code.
//
// # Where it stands
//
//	a federate           in Go by [Dial], or anything that speaks what docs/federation.md says
//	service/federation   connections, tokens, saves on disk
//	federation           what the services mean
//
// # Running one
//
//	s, err := federation.New(federation.Options{Token: secret, Dir: "saves"})
//	http.Handle("/federation/v1/", s)
//	defer s.Close()
//
// The command is {program} federation. A federate dials, and calls:
//
//	c, err := federation.Dial(ctx, "ws://localhost:4600", secret)
//	_, err = c.Call(ctx, federation.Call{Call: "join", Federation: "roads", Name: "radar",
//		Model: file})
//	for n := range c.Notices() {
package federation
