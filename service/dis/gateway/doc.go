// Package gateway joins two exercises over a line between them that is thinner than their networks:
// one gateway at each end, each a part of the exercise on its side.
//
//	exercise -> FromExercise -> cull, gather, difference -> ToLine  - - - ->  FromLine -> ToExercise
//
// What goes over the line is less than what is said on either side:
//
//   - entities that nobody over there needs are culled, by place and by type;
//   - PDUs are gathered into packets, by time, by quorum or by both, and what one of a packet has
//     in common with the one before it is left away;
//   - updates are sent as differences from a reference that the other side holds: the idea of PICA,
//     the Protocol Independent Compression Algorithm. Who lacks a reference asks for it;
//   - what stands still is told a few times and then no more. The other gateway goes on telling its
//     side of it, until it hears that it moves or is gone.
//
// What must not be lost, which is everything but Entity State, is asked for again when a packet is
// missing. What comes out is the PDU that went in, to the bit; only what a gateway says of
// quiescent entities has a time of its own.
//
// A Gateway has no socket or clock. coevald dis gateway gives it both. The ideas are those of
// PARADISE and of bundling in DIS, as surveyed in R. McFarlane's Network Software Architectures for
// Real-Time Massively-Multiplayer Online Games (2005). docs/dis.md has the format of the line.
package gateway
