//go:build !js

// Package use adds the directory to a program by one import:
//
//	import _ "github.com/coeval-dev/coeval/service/directory/use"
//
// Then the program has the command directory, and bench has directory. Without it no database is
// compiled; servers can be announced to a directory all the same. In a program built for the
// browser it does nothing.
package use

import (
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/records"
)

func init() { directory.Use(records.Driver{}) }
