// Package store keeps what outlives a match: rows of kept classes, answers to requests, and who may
// write, in SQLite or PostgreSQL. It implements kept.Store.
//
//	s, err := store.Open(ctx, "sqlite:tanks.db", store.Options{Game: "tanks"})
//	s, err := store.Open(ctx, "postgres://tanks@db.example.net/tanks", store.Options{Game: "tanks"})
//
// What was written is durable when Write or Do returns. A request is done once for ever: whoever
// asks again by the same name gets the same answer. Whoever has an older fence than another is
// refused.
//
// Who calls it is a kept.Desk, by a goroutine beside the game. Commands and programs know databases
// by package database alone, so that a program without them does not compile them; package use is
// the one import that adds them.
//
//	host, kept  ->  database  <-  store  <-  use
package store
