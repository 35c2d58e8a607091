//go:build unix

// Package storetest starts databases for tests.
package storetest

import (
	"os"
	"testing"

	"github.com/coeval-dev/coeval/service/store/scratch"
)

// A Server is a PostgreSQL of a test's own.
type Server = scratch.Server

// Start makes and starts a server in a folder of its own. Stop ends it.
func Start() (*Server, error) { return scratch.Start() }

// Need is for tests that need PostgreSQL: it says why there is none, or ends the test. On the
// project's own machines, where CI=true is set, that is a failure.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a server of PostgreSQL")
	}
	if scratch.Programs() == "" {
		const msg = "PostgreSQL is not installed, so it is not tried (Debian: postgresql)"
		if os.Getenv("CI") == "true" {
			t.Fatal(msg)
		}
		t.Skip(msg)
	}
}
