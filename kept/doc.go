// Package kept is what of a game outlives its matches: which fields of which classes are kept in a
// store, and requests, such as a trade, that are durable before they are shown as done.
//
//	class, Kept, Ask           an author's words, beside the rules
//	      |
//	    world  --- ticks --->  Desk  --- jobs --->  Store     a database, or Memory
//	      ^                     |
//	      +------ inputs -------+
//
// A class says in its method Kept what is kept of it, and whose it is; its entities have a Mark.
// Load and LoadAs ask for what the store has, and from then on what changes is written. Request
// declares something that is executed in the store, Ask asks for it; until the answer comes in it
// is pending, which is part of the world. All that comes from the store is an input of the world:
// so alone, on servers, on mirrors and in replays the same comes of it.
//
// A Desk finds in each tick what the store has to do. It is pure: others run its jobs, on whichever
// goroutine they have. A request is named by its world, its tick, who asked and its ordinal. A
// Store executes each name once; whoever asks again, after a crash or on another mirror, gets the
// same answer. Fences refuse those who were replaced: of a world, all processes but one; of an
// account or character, all sessions but the last.
//
// Rows carry the version of their class's Schema. A class that has gained, lost or widened a field
// reads rows of before; what is renamed it says by Fields.Was, and all else by Fields.Convert.
// Check says before a release what would not load.
package kept
