// Package peer plays a title between players' machines, without a server: in a terminal, by a bot,
// or unseen with lines for machines.
//
//	invitation ── Play ──┬── Match: a peer among peers, or at a relay
//	identity   ──┘       ├── turns.Viewer: what a screen shows of it, each event once
//	                     └── a terminal, or lines
package peer
