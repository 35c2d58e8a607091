// Package knob describes what can be set of a game before it begins: how many snapshots a client
// gets, how long commands wait, how far players see. Each has a name, a range and a default, so
// that people can choose it by hand, and programs can search for the best.
//
//	lab/tunnel              searches
//	host                    --knob NAME=VALUE, --settings FILE
//	topology/..., game      which knobs there are, and what each sets
//	knob/settings           chosen values in a file
//	knob                    what a knob is      <- here
//
// Values are texts in one form each: a number, a time such as 40ms, one of some words, or auto
// where the program finds the value by itself.
package knob
