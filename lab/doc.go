// Package lab is what experiments share. Each experiment is a package of its own inside this
// folder; what it finds is a Result, which says of its fields how they stand in JSON and in tables.
//
//	host/tools              coeval bench, coeval lab
//	lab/codeclab, ...       an experiment each
//	lab                     what they share          <- here
//	topology, codec, ...    what is measured
//
// What is here once, for all of them:
//
//	Option     what can be chosen, its default and its bounds: a field of options, and a flag
//	Progress   how far the work has come
//	Worker     this program, started again as another process, with orders and answers; a Shift is
//	           what it does between them
//	Job        pieces of work on all cores
//	Report     paragraphs and tables for people, no wider than the terminal
//	Plot       pictures
//	Subject    a title as experiments play it; Match has bots play it in this process, and package
//	           session over a simulated network
//	Timer      the quickest of several times
//
// Lab knows no games, so the caller brings one, as a game.Title.
package lab
