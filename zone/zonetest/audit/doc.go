// Package audit reads journals and snapshots of zones, and says what was lost or doubled. It shares
// no code with package zone: it works from what docs/protocol.md says of their bytes, so that a
// mistake in one is not repeated in the other.
package audit
