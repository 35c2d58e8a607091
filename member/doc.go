// Package member names the machines of a group: the members of a multicast, the voters of a
// council, the mirrors of a game. One machine has one number, whichever of them speaks of it.
package member
