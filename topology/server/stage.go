package server

import (
	"context"
	"runtime/pprof"
)

// A stage is a part of a tick, by which a CPU profile tells what its samples belong to: its label
// is stage. To begin one takes some nanoseconds.
type stage struct{ labels context.Context }

var (
	stageNone      = stage{context.Background()}
	stageReceive   = newStage("receive")
	stageStep      = newStage("step")
	stageSnapshots = newStage("snapshots")
	stageSend      = newStage("send")
)

func newStage(name string) stage {
	return stage{pprof.WithLabels(context.Background(), pprof.Labels("stage", name))}
}

// begin has the goroutine be in a stage from now on.
func (s stage) begin() { pprof.SetGoroutineLabels(s.labels) }
