package member

import "slices"

// An ID names a member of a group, from 1; 0 is none. A member that comes back after a crash
// has another number, so that nothing it said before is taken for what it says now.
type ID uint16

// Insert adds a member to a rising list, unless it is there.
func Insert(list []ID, id ID) []ID {
	at, ok := slices.BinarySearch(list, id)
	if ok {
		return list
	}
	return slices.Insert(list, at, id)
}
