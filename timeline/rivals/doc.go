// Package rivals has the timelines that trailing state synchronization is compared with: what else
// a mirror can do when commands arrive late. Each is a timeline.Timeline, and mirrors can be run
// with any of them.
//
//	             shown to players      when a command is late      memory          promises
//	TimeWarp     at once               it goes back at once        a world a tick  exact within a window
//	Rollback     at once, by a guess   it goes back if it matters  a world a tick  exact; waits for who is silent
//	Lockstep     when all have spoken  all wait                    one world       exact; waits
//	Conservative when all have spoken  this mirror waits           one world       exact; waits
//	Bucket       after a fixed delay   it happens later            one world       nothing
//
// They are made of timeline.Core, as Trailing is: the book of what came in, the clock, notices and
// statistics are the same, so that figures can be compared. Package timeline/kinds makes one by its
// name.
package rivals
