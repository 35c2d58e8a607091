// Package ruled is the event-based protocol: one mirror, the judge, decides what happened in each
// tick and tells the others by a Ruling. It is a timeline.Timeline that mirrors can be run with in
// place of trailing states.
//
//	ruled.go     the timeline: what came in, and the leading world
//	judge.go     terms, rulings that come, and those that are made
//	follow.go    the copies that execute rulings and nothing else
//	ruling.go    a ruling, and its bytes
package ruled
