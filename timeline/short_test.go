package timeline_test

import (
	"flag"
	"os"
	"testing"
)

// A short run tries less of each property.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		flag.Set("rapid.checks", "8")
	}
	os.Exit(m.Run())
}
