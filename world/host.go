package world

// Host is a world as those see it who run it: topologies, snapshots, prediction, timelines, traces
// and tools. What a game's own code needs are the methods of World itself, and there are no more of
// them than that.
//
//	err := w.Host().Step(in)
//
// It holds the world and nothing else, and costs nothing.
type Host struct{ *World }

// Host gives the methods by which a world is run. Rules have no use for them: a Step method that
// called Step, Put or CopyFrom would break the tick that it is part of.
func (w *World) Host() Host { return Host{w} }
