package tunnel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFields: what people write for a network comes to the paths that it says.
func TestFields(t *testing.T) {
	ms := func(d time.Duration) int { return int(d / time.Millisecond) }
	trips := filepath.Join(t.TempDir(), "trips.csv")
	if err := os.WriteFile(trips, []byte("from,A,B\nA,0,50\nB,50,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text             string
		server0, server1 int // round trips of two players to a server, in ms
		between          int // and between them
	}{
		{"cable", 30, 30, 60},
		{"cable+lte", 30, 70, 100},
		{"perfect", 0, 0, 0},
		{"latency=40ms", 80, 80, 160},
		{"home@" + trips, 12, 62, 74},
	} {
		f, err := ParseField(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		server, a, b := f.Servers(1, 2)[0], f.Player(0), f.Player(1)
		if got := [3]int{
			ms(f.Trip(a, server)), ms(f.Trip(b, server)), ms(f.Trip(a, b))}; got != [3]int{
			c.server0, c.server1, c.between} {
			t.Errorf("%s: round trips %v, want %d, %d and %d", c.text, got, c.server0, c.server1,
				c.between)
		}
	}
}

// TestCities: players live in all cities of a region and have all first miles in each; mirrors
// stand near them.
func TestCities(t *testing.T) {
	f, err := ParseField("cable+wifi@atlantic")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i := range 32 {
		s := f.Player(i)
		seen[s.Home.Name+" "+f.City(s)]++
	}
	if len(seen) != 8 {
		t.Errorf("32 players are in %v", seen)
	}
	spots := f.Servers(2, 8)
	far := f.Trip(spots[0], spots[1])
	for i := range 8 {
		near := f.Trip(f.Player(i), spots[f.Nearest(f.Player(i), spots)])
		if near > far {
			t.Errorf("player %d is %v from the nearest of two servers, which are %v apart", i, near,
				far)
		}
	}
}

// TestBadFields: what makes no sense is said.
func TestBadFields(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("from,A,B\nA,0,-3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                 "first mile",
		"@world":           "first mile",
		"cabel":            "cabel",
		"cable+":           "",
		"cable@nowhere":    "no region",
		"latency=-5ms":     "latency",
		"home@" + bad:      "impossible delays",
		"loss=200%":        "loss",
		"cable@/dev/null/": "no region",
	} {
		f, err := ParseField(text)
		if err == nil && want != "" {
			t.Errorf("%q is taken for %v", text, f)
		} else if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, and nothing of %q", text, err, want)
		}
	}
}
