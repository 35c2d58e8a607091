//go:build !js

// Package use adds databases to a program by one import:
//
//	import _ "github.com/coeval-dev/coeval/service/store/use"
//
// Then the program has the command store, serve has --store, and bench has store. Without it no
// database is compiled. In a program built for the browser it does nothing.
package use

import (
	"github.com/coeval-dev/coeval/service/store"
	"github.com/coeval-dev/coeval/service/store/database"
)

func init() { database.Use(store.Driver{}) }
