package member

// An ID names a member of a group, from 1; 0 is none. A member that comes back after a crash
// has another number, so that nothing it said before is taken for what it says now.
type ID uint16
