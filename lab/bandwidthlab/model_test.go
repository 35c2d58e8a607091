package bandwidthlab

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near reports whether two figures agree to what the paper prints.
func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// TestPaperTables holds the model to Table 2.4, which is Table 2.2 with the figures of Table 2.3,
// and to what the text says of eight and 32 players.
func TestPaperTables(t *testing.T) {
	v := PaperVariables
	for _, n := range []float64{1, 2, 8, 16, 32, 100} {
		for _, x := range []struct {
			what      string
			got, want float64
		}{
			{"client-server, private", v.Paper(ClientServer, n, 1).Private, 5.36*n*n + 6.84*n},
			{"client-server, public", v.Paper(ClientServer, n, 1).Public, 5.36*n*n + 6.84*n},
			{"client-server, client", v.Paper(ClientServer, n, 1).TotalClient, 5.36*n + 6.84},
			{"client-server, server", v.Paper(ClientServer, n, 1).TotalServer, 5.36*n*n + 6.84*n},
			{"peer-to-peer, private", v.Paper(PeerToPeer, n, 1).Private, 10.6 * n * n},
			{"peer-to-peer, public", v.Paper(PeerToPeer, n, 1).Public, 10.6 * n * n},
			{"peer-to-peer, client", v.Paper(PeerToPeer, n, 1).TotalClient, 10.6 * n},
			{"mirrored, private", v.Paper(Mirrored, n, n/8).Private, 10.6 * n * n},
			{"mirrored, public", v.Paper(Mirrored, n, n/8).Public, 5.36*n*n + 6.84*n},
			{"mirrored, client", v.Paper(Mirrored, n, n/8).TotalClient, 5.36*n + 6.84},
			// the paper rounds to 53.5
			{"mirrored, mirror", v.Paper(Mirrored, n, n/8).TotalServer, 53.48*n + 9.28},
		} {
			if !near(x.got, x.want, 1e-6*x.want) {
				t.Errorf("%s with %v clients: %v, the paper has %v", x.what, n, x.got, x.want)
			}
		}
	}
	// Table 2.2, row by row, with variables that cannot be mistaken for each other.
	v = Variables{A: 1, B: 10, C: 100, DE: 1000}
	if r := v.Paper(ClientServer, 4, 1); r.ClientOut != 1 || r.ServerIn != 4 ||
		r.ClientIn != 4100 || r.ServerOut != 16400 {
		t.Errorf("client-server: %+v", r)
	}
	if r := v.Paper(PeerToPeer, 4, 1); r.ClientOut != 40 || r.ClientIn != 40 || r.TotalServer != 0 {
		t.Errorf("peer-to-peer: %+v", r)
	}
	if r := v.Paper(Mirrored, 4, 2); r.ClientOut != 1 || r.ClientIn != 4100 || r.ServerIn != 2 ||
		r.ServerOut != 8200 || r.MirrorIn != 40 || r.MirrorOut != 40 {
		t.Errorf("mirrored: %+v", r)
	}
}

// TestCountedByHand: three clients with one server, three peers, and four clients on two mirrors,
// counted message by message.
func TestCountedByHand(t *testing.T) {
	v := Variables{A: 1, B: 10, C: 100, DE: 1000}
	for _, x := range []struct {
		a    Architecture
		n, m float64
		want Rates
	}{
		{ClientServer, 3, 1,
			Rates{ClientOut: 1, ClientIn: 3100, ServerIn: 3, ServerOut: 9300, Public: 9303,
				TotalClient: 3101, TotalServer: 9303}},
		{PeerToPeer, 3, 1, Rates{ClientOut: 20, ClientIn: 20, Public: 60, TotalClient: 40}},
		{PeerToPeer, 1, 1, Rates{}},
		{Mirrored, 4, 2,
			Rates{ClientOut: 1, ClientIn: 4100, ServerIn: 2, ServerOut: 8200, MirrorIn: 20,
				MirrorOut: 20, Private: 40, Public: 16404, TotalClient: 4101, TotalServer: 8242}},
		{Mirrored, 6, 3,
			Rates{ClientOut: 1, ClientIn: 6100, ServerIn: 2, ServerOut: 12200, MirrorIn: 40,
				MirrorOut: 40, Private: 120, Public: 36606, TotalClient: 6101, TotalServer: 12282}},
	} {
		if got := v.Counted(x.a, x.n, x.m); got != x.want {
			t.Errorf("%s, %v clients: %+v, want %+v", x.a, x.n, got, x.want)
		}
	}
}

// TestCountedBalance: what is sent arrives.
func TestCountedBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 1000)
		v := Variables{rate.Draw(t, "a"), rate.Draw(t, "b"), rate.Draw(t, "c"), rate.Draw(t, "de")}
		m := float64(rapid.IntRange(1, 16).Draw(t, "mirrors"))
		n := m * float64(rapid.IntRange(1, 16).Draw(t, "clients of each"))
		r := v.Counted(Mirrored, n, m)
		same := func(what string, a, b float64) {
			if !near(a, b, 1e-9*max(a, b)) {
				t.Fatalf("%s: %v and %v", what, a, b)
			}
		}
		same("between mirrors, sent", r.MirrorOut*m, r.Private)
		same("between mirrors, received", r.MirrorIn*m, r.Private)
		same("clients and mirrors", (r.ServerIn+r.ServerOut)*m, r.Public)
		same("one mirror is a server", v.Counted(Mirrored, n, 1).TotalServer,
			v.Counted(ClientServer, n, 1).TotalServer)
		p := v.Counted(PeerToPeer, n, 1)
		same("peers", p.ClientOut*n, p.Public)
	})
}

func TestFitLine(t *testing.T) {
	// By hand: means 2 and 4, sums of squares 2, 3 and 14/3; slope 3/2.
	l, err := FitLine([]float64{1, 2, 3}, []float64{3, 3, 6})
	if err != nil || l.Slope != 1.5 || l.Intercept != 1 || !near(l.RSquared, 0.75, 1e-12) ||
		!near(l.Correlation, math.Sqrt(0.75), 1e-12) {
		t.Errorf("%+v, %v", l, err)
	}
	for i, want := range []float64{0.5, -1, 0.5} {
		if l.Residuals[i] != want {
			t.Errorf("residuals are %v", l.Residuals)
		}
	}
	if want := math.Sqrt(1.5 / 2); !near(l.SlopeError, want, 1e-12) ||
		!near(l.InterceptError, math.Sqrt(1.5)*math.Sqrt(1.0/3+2), 1e-12) {
		t.Errorf("errors are %v and %v", l.SlopeError, l.InterceptError)
	}
	for _, x := range [][]float64{nil, {1}, {2, 2, 2}} {
		if _, err := FitLine(x, x); !errors.Is(err, ErrNoLine) {
			t.Errorf("%v: %v", x, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-100, 100).Draw(t, "a"),
			rapid.Float64Range(-100, 100).Draw(t, "b")
		noise := rapid.Float64Range(0, 5).Draw(t, "noise")
		n := rapid.IntRange(3, 20).Draw(t, "n")
		var x, y []float64
		for i := range n {
			x = append(x, float64(i*i+1))
			y = append(y, a+b*x[i]+noise*rapid.Float64Range(-1, 1).Draw(t, "e"))
		}
		l, err := FitLine(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if noise == 0 && (!near(l.Intercept, a, 1e-6) || !near(l.Slope, b, 1e-6)) {
			t.Fatalf("%v + %v x was found for %v + %v x", l.Intercept, l.Slope, a, b)
		}
		// What makes it the least: residuals that sum to nothing, by themselves and along x.
		var sum, along float64
		for i, r := range l.Residuals {
			sum += r
			along += r * x[i]
		}
		if !near(sum, 0, 1e-6) || !near(along, 0, 1e-3) || l.RSquared > 1+1e-12 {
			t.Fatalf("residuals sum to %v and %v; R² %v", sum, along, l.RSquared)
		}
	})
}
