// Package sitting has a person take a blind test: it plays the matches of the trials, one for each
// interval, and keeps the answers.
//
//	host/internal/demo      the page
//	lab/blind/sitting       matches for a person, in the order of the test      <- here
//	lab/blind               the test
//	lab/tunnel              what is played
//
// The matches are those of the wind tunnel, with a person in the first seat: any architecture that
// the tunnel knows, on any of its networks. All machines of a match are in this process, and its
// time is virtual, but goes by with the person's clock. So both sides meet the same network, and a
// match can begin within the pause before it, however long its machines take to find each other.
//
// Each interval is a new match. If there were one of each side that went on from trial to trial, a
// person would know a side again by the score. All matches of a trial begin with the same seed,
// the person is the first player in all of them, and when they are shown their clocks say the
// same. What is left to tell the sides apart is how they play.
package sitting
