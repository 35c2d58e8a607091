package find_test

import (
	"strings"
	"testing"
)

// TestNothing: what is wrong or missing is said with what to do, and scripts know it by the exit
// code.
func TestNothing(t *testing.T) {
	t.Parallel()
	d := aDirectory(t)
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"--directory " + d, 3, "no server is listed at " + d},
		{"tanks --directory " + d, 3, "no server of tanks is listed"},
		{"--room --region eu --directory " + d, 3, "leave some of them out"},
		{"--json --directory " + d, 3, "no server is listed"},
		{"--directory find.example.org", 2, "is not the URL of a directory"},
		{"--directory http://127.0.0.1:1", 1, "check its URL, and that it runs"},
		{"--directory " + d + " --directory-trust nowhere.pem", 2, "--directory-trust"},
		{"--sort fun --directory " + d, 2, "it must be rtt, players, room or name"},
		{"--limit 0 --directory " + d, 2, "above 0"},
		{"--headless --directory " + d, 2, "goes with --join"},
		{"--json --join --directory " + d, 2, "go together with --headless"},
		{"one two", 2, "accepts at most 1 arg"},
		{"--tag " + strings.Repeat("x", 300) + " --directory " + d, 1, "300 bytes"},
	} {
		code, out, errs := try(t, several, append([]string{"find"}, strings.Fields(x.args)...)...)
		if code != x.code || !strings.Contains(errs, x.says) {
			t.Errorf("find %s: %d %s%s", x.args, code, out, errs)
		}
		if strings.HasPrefix(x.args, "--json --d") && !strings.Contains(out, `{"servers":[],`) {
			t.Errorf("find %s: %s", x.args, out)
		}
	}
}
