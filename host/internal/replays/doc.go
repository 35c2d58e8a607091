// Package replays shows recordings on a page: play, pause, step, go to any tick, several machines
// side by side, and what would have been had a player done something else. It works for any title,
// since a frame is drawn here, by the title, and replayed by the page:
//
//	trace ── Seeker ── the world at a tick ──┬── Screen.Draw ── list of calls ── canvas
//	   └──── Replay, once, in the background └── entities, fields, events ────── tables
//	               └── key frames, marks for the time line
package replays
