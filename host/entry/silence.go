package entry

import "fmt"

// A Silence is how long nothing has come from the server.
type Silence struct {
	packets uint64
	seconds float64
}

// When a server that says nothing is spoken of, and when of what may be wrong.
const (
	quiet = 0.7
	long  = 3.0
)

// Say is what a player is told in a frame: what the session says of itself, unless nothing comes
// from the server, and that is all there is to say.
func (s *Silence) Say(status string, passed float64, packets uint64) string {
	words := s.Watch(passed, packets)
	if words != "" && (status == "" || status == "connecting" || status == "entering") {
		return words
	}
	return status
}

// Watch counts while nothing comes, and says what to tell the player, or nothing. Time in which the
// page itself was not given a frame does not count.
func (s *Silence) Watch(passed float64, packets uint64) string {
	if packets != s.packets {
		s.packets, s.seconds = packets, 0
		return ""
	}
	s.seconds += min(passed, 0.1)
	switch {
	case s.seconds > long:
		return fmt.Sprintf("nothing has come from the server for %.0f s: the network is down, or "+
			"the server has stopped; the game goes on when it is back", s.seconds)
	case s.seconds > quiet || packets == 0:
		return "waiting for the server"
	}
	return ""
}
