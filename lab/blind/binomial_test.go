package blind_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/coeval-dev/coeval/lab/blind"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// What tables of the binomial distribution say.
func TestTables(t *testing.T) {
	for _, x := range []struct {
		k, n int
		want float64
	}{
		{7, 10, 0.171875}, {9, 10, 0.0107421875}, {5, 5, 0.03125}, {12, 16, 0.0384064},
		{11, 16, 0.1050568}, {15, 20, 0.0206947}, {59, 100, 0.0443130}, {0, 3, 1}, {4, 3, 0},
	} {
		near(t, "at least", blind.AtLeast(x.k, x.n, 0.5), x.want, 1e-7)
	}
	near(t, "0.3", blind.AtLeast(5, 10, 0.3), 0.1502683, 1e-7)
	for _, x := range []struct {
		k, n      int
		low, high float64
	}{
		{7, 10, 0.3475, 0.9333}, {0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {12, 16, 0.4762, 0.9273},
		{50, 100, 0.3983, 0.6017},
	} {
		i := blind.ClopperPearson(x.k, x.n, 0.95)
		near(t, "low", i.Low, x.low, 5e-5)
		near(t, "high", i.High, x.high, 5e-5)
	}
	for n, want := range map[int][2]int{ // right answers in ABX, and the sign test's
		5: {5, 6}, 6: {6, 6}, 10: {9, 9}, 16: {12, 13}, 20: {15, 15}, 25: {18, 18}, 100: {59, 61},
	} {
		got := [2]int{blind.Critical(blind.ABX, n), blind.Critical(blind.Better, n)}
		if got != want {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
	near(t, "power", blind.Power(blind.ABX, 16, 0.8), 0.7982, 5e-5)
}

// exact is how likely at least k of n are at a chance of num/den, in whole numbers.
func exact(k, n int, num, den int64) float64 {
	p, q := big.NewRat(num, den), big.NewRat(den-num, den)
	power := func(x *big.Rat, n int) *big.Rat {
		r := big.NewRat(1, 1)
		for range n {
			r.Mul(r, x)
		}
		return r
	}
	all := new(big.Rat)
	for i := max(k, 0); i <= n; i++ {
		c := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		all.Add(all, c.Mul(c, power(p, i)).Mul(c, power(q, n-i)))
	}
	f, _ := all.Float64()
	return f
}

func TestAgainstWholeNumbers(t *testing.T) {
	for n := 1; n <= 18; n++ {
		for k := range n + 2 {
			for _, p := range [][2]int64{{1, 2}, {3, 4}, {1, 100}} {
				want := exact(k, n, p[0], p[1])
				got := blind.AtLeast(k, n, float64(p[0])/float64(p[1]))
				near(t, "at least", got, want, 1e-12+1e-10*want)
			}
		}
	}
	// The least number of trials that is enough, by looking at each.
	for _, q := range []blind.Question{blind.ABX, blind.Better} {
		need := 0
		for n := 1; need == 0; n++ {
			for k := range n + 1 {
				by := exact(max(k, n-k), n, 1, 2)
				if q == blind.Better {
					by = min(1, 2*by)
				}
				if 2*k <= n || by > blind.Alpha {
					continue
				}
				power := exact(k, n, 3, 4)
				if q == blind.Better {
					power += 1 - exact(n-k+1, n, 3, 4)
				}
				if power >= blind.WantedPower {
					need = n
				}
				break
			}
		}
		if got := blind.Needed(q, 0.75); got != need || need < 10 {
			t.Errorf("%s: %d trials are needed, want %d", q, got, need)
		}
	}
	if n := blind.Needed(blind.ABX, 0.5); n != 0 {
		t.Errorf("%d trials show that nothing is nothing", n)
	}
	if a, b := blind.Needed(blind.Better, 0.3), blind.Needed(blind.Better, 0.7); a != b || a == 0 {
		t.Errorf("%d and %d", a, b)
	}
}

// The interval has the truth in it at least as often as it says, and a test shows what is not there
// no more often than it may: both exactly, for every count.
func TestCoverage(t *testing.T) {
	for _, n := range []int{1, 5, 16, 24} {
		for i := 1; i < 20; i++ {
			p := float64(i) / 20
			covered := 0.0
			for k := range n + 1 {
				if w := blind.ClopperPearson(k, n, 0.95); w.Low <= p && p <= w.High {
					covered += blind.AtLeast(k, n, p) - blind.AtLeast(k+1, n, p)
				}
			}
			if covered < 0.95 {
				t.Errorf("n %d, p %v: the interval has it in %v of cases", n, p, covered)
			}
		}
	}
	for n := 1; n <= 100; n++ {
		for _, q := range []blind.Question{blind.ABX, blind.Better} {
			if p := blind.Power(q, n, 0.5); p > blind.Alpha {
				t.Errorf("%s with %d trials finds nothing to be something in %v", q, n, p)
			}
		}
	}
}

// Why a sheet that is not full has no verdict: who looks after each answer, and stops when the
// count is enough, finds a difference far more often than one time in twenty where there is none.
func TestPeeking(t *testing.T) {
	for n, least := range map[int]float64{16: 0.08, 100: 0.15} {
		// by count of right answers, how likely it is that no look has shown anything
		still := map[int]float64{0: 1}
		found := 0.0
		for i := 1; i <= n; i++ {
			next := map[int]float64{}
			for k, p := range still {
				next[k] += p / 2
				next[k+1] += p / 2
			}
			for k, p := range next {
				if k >= blind.Critical(blind.ABX, i) {
					found += p
					delete(next, k)
				}
			}
			still = next
		}
		t.Logf("of tests with nothing to find, %.1f %% find it if they may stop at any of %d "+
			"answers", 100*found, n)
		if found < least {
			t.Errorf("%v of %d: then there would be less wrong with peeking", found, n)
		}
	}
}

func TestWords(t *testing.T) {
	for p, want := range map[float64]string{
		0.171875: "one time in six", 1: "always", 0.9: "most of the time", 0.5: "every other time",
		0.038: "one time in 26", 1e-9: "less than one time in a million",
		1.0 / 1234: "one time in 1,200", 1.0 / 65536: "one time in 66,000",
		0.35: "one time in three",
	} {
		if got := blind.OneIn(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	for p, want := range map[float64]string{
		0: "hardly ever", 0.1: "one time in ten", 0.44: "four times in ten",
		0.96: "more than nine times in ten", 1: "nearly always",
	} {
		if got := blind.Often(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	sides := [2]string{"coeval", "quake3"}
	for _, x := range []struct {
		q    blind.Question
		k, n int
		want string
	}{
		{blind.ABX, 7, 10, "7 of 10 answers were right, and guessing gives as many or more one " +
			"time in six: no difference is shown."},
		{blind.ABX, 12, 16, "12 of 16 answers were right, and guessing gives as many or more one " +
			"time in 26: the two can be told apart."},
		{blind.Better, 2, 16, "quake3 was preferred 14 times of 16. Where both are as good, " +
			"chance gives one of them as many or more one time in 239: quake3 is preferred."},
		{blind.Better, 5, 10, "Each was preferred 5 times of 10: no difference is shown."},
		{blind.ABX, 0, 0, "There is no answer, so nothing is shown."},
	} {
		v := blind.Judge(x.q, x.k, x.n)
		words := v.Words(x.q, sides)
		if words[0] != x.want {
			t.Errorf("%q, want %q", words[0], x.want)
		}
		if x.n > 0 && !v.Shown && len(words) != 3 {
			t.Errorf("it is not said what the test could not find: %q", words)
		}
	}
}
