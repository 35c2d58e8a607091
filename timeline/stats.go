package timeline

import "time"

// Stats say what a timeline did and what it cost.
type Stats struct {
	Commands   int // taken in, on time or late, joins and leaves included
	Late       int // of those, for ticks that the leading world had passed
	TooLate    int // not taken in: their ticks were settled
	Duplicates int
	Superseded int // gave way to another command of the same player and tick
	Conflicts  int // had the stamp of another that was different: their mirror is broken
	Refused    int // made no sense

	Rulings int // made or taken in, with Ruled

	Executions int // commands executed, each as often as a world was given it
	Steps      int // ticks computed, of whatever world
	Settled    int // ticks settled

	Rollbacks   int // times that a world was taken back and computed again
	Seen        int // of those, how many reached the leading world
	Refreshes   int // of those, how many only served to take away differences that no one had seen
	Corrections int // times that places were corrected instead
	Depth       int // ticks gone back, all rollbacks together
	Deepest     int // ticks gone back in one

	Returning

	Copies      int // of whole worlds, to save or to restore
	CopiedBytes int64
	Held        int // bytes of all copies of the world, now
	MostHeld    int

	Jumping
	Showing

	Waited time.Duration // for how long the leading world was behind its time, waiting for others
	Behind int           // the most ticks it was behind

	StepTime, CopyTime time.Duration // if there is a Clock

	GameErrors int   // ticks in which the game reported an error
	GameError  error // the first of those
}

// Returning is how often the leading world was taken back at once for what came late, which
// Rollbacks do not count.
type Returning struct {
	Returns  int // once for all that came late since the last tick
	Returned int // ticks gone back, by all of that together
	Spoiled  int // commands that were late and so that it had to go back
}

// Jumping is how things moved in the leading world by being repaired.
type Jumping struct {
	Jump  float64 // the furthest that a field with a margin, such as a player's place, moved
	Jumps int     // how often one moved by more than its margin
	Moved float64 // how far those moved, together
}

// Showing is how wrong was what players were shown.
type Showing struct {
	Bodies int // entities with margins, each when its tick was first shown, that settled since
	Wrong  int // of those, how many were off by more than their margins
	Events int // announced
	Taken  int // of those, how many were taken back
}

// RollbacksPerThousand is how many rollbacks there were for 1000 commands.
func (s *Stats) RollbacksPerThousand() float64 {
	return 1000 * float64(s.Rollbacks) / float64(max(s.Commands, 1))
}

// Again is how many times as many ticks were computed as if none had been computed twice.
func (s *Stats) Again() float64 {
	return float64(s.Steps) / float64(max(s.Steps-s.Depth-s.Returned, 1))
}

// jump counts how far something moved.
func (s *Stats) jump(d, margin float64) {
	s.Jump = max(s.Jump, d)
	if d > margin {
		s.Jumps++
		s.Moved += d
	}
}
