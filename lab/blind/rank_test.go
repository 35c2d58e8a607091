package blind_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/coeval-dev/coeval/lab/blind"
)

// Of two, the model says what the count does; of three in a circle, that all are as strong.
func TestRankKnown(t *testing.T) {
	two := blind.Rank([]string{"a", "b"}, [][]int{{0, 30}, {10, 0}})
	// s(a)/s(b) = 30.5/10.5, and each is compared with the middle of the two
	near(t, "a", two[0].Rate, 1/(1+math.Sqrt(10.5/30.5)), 1e-6)
	near(t, "b", two[1].Rate, 1/(1+math.Sqrt(30.5/10.5)), 1e-6)
	// the logarithm of the odds has a variance of 1/w+1/l, and half of the odds a quarter of it
	half := 1.96 * math.Sqrt(1/30.5+1/10.5) / 2
	logit := math.Log(two[0].Within.High / (1 - two[0].Within.High))
	near(t, "spread", logit, math.Log(30.5/10.5)/2+half, 1e-6)
	three := []string{"a", "b", "c"}
	for _, s := range blind.Rank(three, [][]int{{0, 9, 3}, {3, 0, 9}, {9, 3, 0}}) {
		near(t, s.Name, s.Rate, 0.5, 1e-6)
	}
	if list := blind.Rank(three, [][]int{{0, 5, 0}, {5, 0, 0}, {0, 0, 0}}); list != nil {
		t.Errorf("nobody compared c: %v", list)
	}
	never := blind.Rank([]string{"a", "b"}, [][]int{{0, 0}, {12, 0}})
	if never[0].Name != "b" || never[1].Rate < 0.01 || never[1].Within.Low >= never[1].Rate {
		t.Errorf("one that never won: %+v", never)
	}
}

// Strengths that are known are found again, and the intervals have them nineteen times in twenty.
func TestRankCoverage(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	theta := []float64{0.8, 0.2, -0.3, -0.7}
	names := []string{"a", "b", "c", "d"}
	in, of := 0, 0
	for range 400 {
		wins := make([][]int, 4)
		for i := range wins {
			wins[i] = make([]int, 4)
		}
		for i := range theta {
			for j := range i {
				for range 16 {
					if r.Float64() < 1/(1+math.Exp(theta[j]-theta[i])) {
						wins[i][j]++
					} else {
						wins[j][i]++
					}
				}
			}
		}
		for _, s := range blind.Rank(names, wins) {
			p := 1 / (1 + math.Exp(-theta[s.Name[0]-'a']))
			if of++; s.Within.Low <= p && p <= s.Within.High {
				in++
			}
		}
	}
	share := float64(in) / float64(of)
	t.Logf("seed %d: %.1f %% of %d intervals have the truth", seed, 100*share, of)
	if share < 0.925 || share > 0.98 {
		t.Errorf("seed %d: intervals at 95 %% have the truth in %.3f", seed, share)
	}
}
