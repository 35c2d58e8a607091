// Package mailbox is the meeting place of carriers that must read in goroutines
// of their own and a game that asks at its tick: a bounded queue of datagrams,
// copied in, on which neither side blocks the other for longer than a copy takes.
// It serves both ways: for what arrived, and for what a session has yet to send.
package mailbox
