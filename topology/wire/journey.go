package wire

import (
	"math"
	"time"
)

// Why says why a player comes to a server.
type Why byte

// Reasons to come.
const (
	Joins  Why = iota // from nowhere, or back to a seat
	Asked             // the server before wanted it
	Silent            // nothing was heard of the server before
	Lost              // the connection to it has ended
	Nearer            // that server works, and this one is much nearer
	Whys
)

var whyNames = [Whys]string{"joins", "asked", "silent", "lost", "nearer"}

func (w Why) String() string {
	if w < Whys {
		return whyNames[w]
	}
	return "unknown"
}

// A Journey is why a player comes, and what it has measured. It is what the client says: it decides
// about nothing but how the player is served.
type Journey struct {
	Why Why
	// Trip and From are the round trips to this server and to the one before, in milliseconds; 0 is
	// not known.
	Trip, From uint16
}

// Millis is a round trip as a Journey has it.
func Millis(d time.Duration) uint16 {
	if d <= 0 {
		return 0
	}
	return uint16(max(1, min(d.Milliseconds(), math.MaxUint16)))
}

// journey is three fields.
func (w *cursor) journey(j *Journey) {
	w.U8((*byte)(&j.Why))
	w.Check(j.Why < Whys)
	w.U16(&j.Trip)
	w.U16(&j.From)
}
