// Package crowd is a game for many: a square full of people who walk, shoot and pick up gems. It is
// what coeval bench server measures with, and an example of a game that is larger than anyone's
// view.
//
//	coeval bench server               how many players one core can serve
//
// The square is as large as its number of players asks for, so that each of them sees about thirty
// others whether there are a hundred players or ten thousand (SettingsFor). Nothing in a tick takes
// more than what is near: Plaza, the state, sorts everyone into cells at the beginning of each
// tick.
//
// crowd.go has the classes, plaza.go the square and its cells, interest.go who is shown what,
// bot.go players that need no one, replica.go what the codec should know, with tables trained from
// play (go generate makes them anew).
package crowd
