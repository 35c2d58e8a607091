// Package dis speaks Distributed Interactive Simulation (IEEE 1278.1), the protocol of military and
// civil simulators: versions 6 and 7.
//
//	datagram -> Reader -> PDU -> Exercise -> who else is there, reckoned to now
//	                             Sender   -> PDU -> Append -> datagram
//
// There is no server in an exercise. Each simulator tells of its own entities, to a broadcast or
// multicast address, when they are no longer where others reckon them to be, and now and then all
// the same, so that newcomers learn of them and the silent are forgotten.
//
// The PDUs are structs, exact to the bit, and a Reader reads a stream of them without allocating:
//
//	for p, err := range reader.All(datagram) {
//		switch p := p.(type) {
//		case *dis.EntityState: ...
//		case *dis.Fire: ...
//		}
//	}
//
// What is not known by kind passes as an Unknown PDU. All of it is hostile until shown otherwise: a
// length that lies, a count that does not fit, or a number that is none is an error or a false
// Finite, and never more memory than the datagram has bytes.
//
// docs/dis.md tells more, and coevald dis listens to an exercise.
package dis
