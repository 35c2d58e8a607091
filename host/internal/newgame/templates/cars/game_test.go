package main

import (
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// TestTitle finds what would go wrong when the game starts: a field that is not synced, a hint that
// points nowhere.
func TestTitle(t *testing.T) {
	if err := Title.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestDeterminism finds what would make players see different games. Every tick is computed again
// from copies and saves, and parts of the world are predicted with the rest hidden, as on a client.
func TestDeterminism(t *testing.T) {
	o := world.CheckOptions{Ticks: 600, Players: 4}
	if d, err := world.CheckRollback(Game, o); d != nil || err != nil {
		t.Error(d, err)
	}
	if r, err := world.CheckHidden(Game, o); err != nil || r.Wrong > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := world.CheckBorders(Game, o); err != nil || r.Wrong > 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestDraw draws a game in which players press everything.
func TestDraw(t *testing.T) {
	w, err := Game.New(world.Settings{Seed: 1, Develop: true})
	if err != nil {
		t.Fatal(err)
	}
	var s draw.Surface
	show, in, inputs := Title.Screen.Drawer(), Game.NewInputs(), world.RandomInputs(Game, 1, 4)
	for range 600 {
		inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		s.Begin(1280, 720)
		show(&s, &game.Frame{World: w, Me: 1, Seconds: w.Seconds(), Fresh: true})
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, warning := range w.Host().Warnings() {
		t.Error(warning)
	}
}
