// Package blind is a test that a person takes without knowing what is tested: the same game on two
// sides, such as two architectures, and a question after each trial. It has the procedure, the
// sheet on which answers are kept, and the statistics.
//
//	host/internal/demo      the page
//	lab/blind/sitting       a person who plays the trials
//	lab/blind               what is played when, what is asked, what the answers show   <- here
//
// It starts no goroutine and reads no clock: a Procedure is given the time.
//
// There are two questions. ABX asks whether a difference can be perceived at all: A, then B, then
// X, which is one of the two, and the person says which. Whoever perceives nothing guesses, and is
// right as often as a coin; whether the count of right answers is more than that is an exact
// binomial test, and nobody needs to know what to look for, or to find one of them better. Better
// asks which of two was better: if neither is, each is preferred as often as a coin says, and that
// is the sign test. Nobody may say "no difference": who perceives none answers at random, and so
// does not change what chance gives; a third answer would have to be shared out somehow.
//
// Coins are thrown for each trial by itself, from a seed that nobody is told before the end. So
// what chance gives is the same whatever habits a person has: to prefer what came last, or to say
// A when in doubt.
//
// The number of trials is declared before the first. Who may stop as soon as the count looks good
// finds a difference where there is none in 9 of 100 tests of up to 16 trials, and in 20 of 100 of
// up to 100 (TestPeeking). So a sheet that is not full has no verdict.
package blind
