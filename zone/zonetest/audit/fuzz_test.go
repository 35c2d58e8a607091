package audit

import "testing"

// FuzzRead has an audit read whatever a journal may hold.
func FuzzRead(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 0, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ReadRecord(1, data)
		_, _ = ReadSnapshot(data)
	})
}
