package lab

// Progress is told how much of the work is done, from 0 to 1, and what is being done. It may be
// nil.
type Progress func(done float64, what string)

// Tell passes news on, if there is anyone to hear them.
func (p Progress) Tell(done float64, what string) {
	if p != nil {
		p(done, what)
	}
}

// Within is for a piece of the work, which is told of from 0 to 1 and takes a share of the whole.
func (p Progress) Within(from, share float64) Progress {
	return func(done float64, what string) { p.Tell(from+share*done, what) }
}

// Nth is for the ith of n pieces of the work that take as long.
func (p Progress) Nth(i, n int) Progress { return p.Within(float64(i)/float64(n), 1/float64(n)) }
