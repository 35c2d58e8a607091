package netsim

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const everyLine = `seed 7
exact
at 1.5s cut client server for 400ms
at 1.5s cut client > server for 400ms
at 1.5s cut * server
at 2s path client server preset=awful loss=0.3 up.latency=5ms for 1s
at 3s pause server for 250ms
at 4s restart client for 1s
at 5s rebind client port
at 5s rebind client address
drop client > server 17
delay client > server 18 by 43ms
hold client > server 19 by -43ms
copy client > server 20 by 5ms
flip client > server 21 bit 133
`

func TestScriptPrintsAsItReads(t *testing.T) {
	s, err := Parse(everyLine)
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != everyLine {
		t.Errorf("printed as\n%v", s)
	}
	loose, err := Parse(
		"# a comment\n\n  seed   7\r\nexact\nat 1500ms cut client server for 0.4s # here too\n")
	if err != nil || loose.Faults[0] != s.Faults[0] {
		t.Errorf("%v, %v", loose, err)
	}
}

func TestScriptErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"seed x":                               "line 1: bad seed",
		"\nfoo":                                "line 2: unknown line \"foo\"",
		"at soon cut a b":                      "bad duration \"soon\"",
		"at 1s explode a":                      "unknown fault \"explode\"",
		"at 1s cut a":                          "needs the name",
		"at 1s cut a b for":                    "bad duration",
		"at 1s cut a b c":                      "\"c\" is too much",
		"at -1s cut a b":                       "before the start",
		"at 1s path a b":                       "needs a preset or settings",
		"at 1s path a b loss=2":                "loss: bad probability",
		"at 1s path a b wify":                  "unknown preset \"wify\", use one of perfect, lan",
		"at 1s rebind a":                       "say port or address",
		"drop a b 1":                           "needs a direction",
		"drop a > b":                           "number of a datagram",
		"drop a > b 0":                         "counted from 1",
		"drop * > b 1":                         "cannot be counted",
		"delay a > b 1":                        "like by 20ms",
		"delay a > b 1 by 2h":                  "at most an hour",
		"flip a > b 1 bit x":                   "number of a bit",
		"exact now":                            "is too much",
		"at 1s path a b up.down.loss=1":        "unknown setting",
		"at 1s path a b jitter=odd:3ms":        "unknown shape",
		"at 1s path a b rate=fast":             "bad amount",
		"at 1s path a b burst=1":               "enter/leave/loss",
		"at 1s path a b jitter=recorded:1ms,x": "in the list",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: whatever is accepted prints as something that reads the same, and
// can be run.
func FuzzParse(f *testing.F) {
	f.Add(everyLine)
	f.Add("at 1s path a > b wifi jitter=recorded:1ms,2ms rate=1.5Mbit queue=3KiB reorder=1%/5ms")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("printed %q: %v", s.String(), err)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("%q reads as %#v, then %#v", text, s, again)
		}
		if len(s.Faults) > 100 {
			return
		}
		err = Replay(s, func(n *Net) error {
			a, b := n.Endpoint("a"), n.Endpoint("b")
			b.Handle(func(from netip.AddrPort, data []byte) { b.SendTo(from, data) })
			for range 10 {
				a.SendTo(b.PublicAddr(), make([]byte, 100))
				n.Run(500 * time.Millisecond)
			}
			return nil
		})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	})
}

// FuzzProfile: settings print as they read.
func FuzzProfile(f *testing.F) {
	for _, c := range Presets() {
		f.Add(c.Up.String())
	}
	f.Add("jitter=recorded:1ms,-2ms,3h")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := readProfile(text)
		if !ok {
			return
		}
		again, ok := readProfile(p.String())
		if !ok || again.String() != p.String() {
			t.Fatalf("%q is %v, then %v", text, p, again)
		}
		path := NewPath(p, 1)
		for i := range 20 {
			now := time.Duration(i) * time.Millisecond
			fate := path.Pass(now, 100*i)
			for k := range fate.Copies {
				if fate.At[k] < now {
					t.Fatalf("%v: arrives at %v, before it was sent at %v", p, fate.At[k], now)
				}
			}
			if fate.Flip >= 100*i*8 {
				t.Fatalf("%v: flips bit %d of %d", p, fate.Flip, 800*i)
			}
		}
	})
}

func readProfile(text string) (p Profile, ok bool) {
	if text == "perfect" {
		return p, true
	}
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		if p.Set(key, value) != nil {
			return Profile{}, false
		}
	}
	return p, true
}

func TestPresetsPrintAsTheyRead(t *testing.T) {
	for _, c := range Presets() {
		if p, ok := readProfile(c.Down.String()); !ok || !reflect.DeepEqual(p, c.Down) {
			t.Errorf("%s: %v reads as %v", c.Name, c.Down, p)
		}
	}
}

func TestParseConditions(t *testing.T) {
	c, err := ParseConditions("wifi loss=5% up.latency=80ms")
	if err != nil || c.Up.Latency != 80*time.Millisecond || c.Down.Latency != WiFi.Down.Latency ||
		c.Down.Loss != 0.05 || c.Name != "" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := ParseConditions("lte"); err != nil || c.Name != "lte" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "wify", "loss", "loss=x", "preset=", "up.preset=wifi"} {
		if c, err := ParseConditions(bad); err == nil {
			t.Errorf("%q: %+v", bad, c)
		}
	}
}

// TestScheduledFaults runs a script and looks at what gets through when.
func TestScheduledFaults(t *testing.T) {
	s, err := Parse(`
		at 1s cut a b for 1s
		at 3s pause b for 1s
		at 5s path a > b loss=1 for 1s
		at 5500ms path a > b loss=0 for 200ms
		at 7s rebind a port
		drop a > b 1
		copy a > b 2 by 1ms
	`)
	if err != nil {
		t.Fatal(err)
	}
	n, a, b, got := pair(1, Perfect)
	if err := n.Schedule(s.Faults...); err != nil {
		t.Fatal(err)
	}
	a.Every(100*time.Millisecond, func() { a.SendTo(b.PublicAddr(), nil) })
	n.Run(8050 * time.Millisecond)
	count := func(from, to time.Duration) (k int) {
		for _, g := range *got {
			if g.at >= from*time.Millisecond && g.at < to*time.Millisecond {
				k++
			}
		}
		return k
	}
	for _, c := range []struct{ from, to, want int }{
		{0, 1000, 9}, // one dropped, one copied
		{1000, 2000, 0}, {2000, 3000, 10},
		{3000, 4000, 0}, {4000, 4001, 11}, {4000, 5000, 20},
		{5000, 5500, 0}, {5500, 5700, 2}, {5700, 6000, 0}, {6000, 8000, 20},
	} {
		if k := count(time.Duration(c.from), time.Duration(c.to)); k != c.want {
			t.Errorf("%d arrived from %d to %d ms, want %d", k, c.from, c.to, c.want)
		}
	}
	if first, last := (*got)[0].from, (*got)[len(*got)-1].from; first == last {
		t.Error("the port did not change")
	}
	if p := n.Path(a, b).Profile(); p.Loss != 0 {
		t.Errorf("the path is left as %v", p)
	}
}

// TestFaultsLeaveNothingBehind: after faults of all kinds have ended, everything
// runs and paths are as before.
func TestFaultsLeaveNothingBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := New(Options{Seed: rapid.Uint64().Draw(t, "seed"), Conditions: Cable})
		a, b, c := n.Endpoint("a"), n.Endpoint("b"), n.Endpoint("c")
		all := []string{"*"}
		if err := n.Chaos(Chaos{End: time.Second, Most: 30, Cut: all, Pause: all, Restart: all,
			Rebind: all, Storm: all}); err != nil {
			t.Fatal(err)
		}
		n.Run(3 * time.Second)
		for _, from := range []*Endpoint{a, b, c} {
			if !from.Running() {
				t.Fatalf("%s does not run", from.Name())
			}
			for _, to := range []*Endpoint{a, b, c} {
				if from != to {
					path := n.path(from, to)
					if path.cuts != 0 || !reflect.DeepEqual(path.profile, path.base) {
						t.Fatalf("%s > %s: %d cuts, %v", from.Name(), to.Name(), path.cuts,
							path.profile)
					}
				}
			}
		}
	})
}
