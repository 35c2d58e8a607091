package sqldb

import (
	"strings"
	"testing"
)

// FuzzURL: whatever a database is named by, it is one or an error, and no password is shown.
func FuzzURL(f *testing.F) {
	for _, u := range []string{"sqlite:a.db", "a.db", "postgres://u:p@h/d?password=x",
		"postgres://[", ":memory:", "sqlite://", "x://"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, url string) {
		d, shown, err := parse(url)
		if (d == nil) == (err == nil) {
			t.Fatalf("a dialect %v with the error %v", d, err)
		}
		if strings.Contains(url, "password=hunter2") && strings.HasPrefix(url, "postgres") &&
			strings.Contains(shown, "hunter2") {
			t.Fatalf("%q is shown as %q", url, shown)
		}
	})
}
