// Package tracetest asserts in tests what a recording holds. A clip that was saved from a match, in
// which something went as it should or as it must not again, becomes a test by one line:
//
//	func TestTheBallStaysIn(t *testing.T) {
//		tracetest.Repeats(t, pong.Title.Game, "testdata/pong-120-300.trace")
//	}
//
// The page of the command replay writes the file and the line.
package tracetest
