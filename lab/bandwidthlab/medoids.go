package bandwidthlab

import (
	"slices"
	"time"
)

// Medoids chooses k places such that the sum of the players' delays to and from the nearest is
// least: where mirrors should stand. With k = 1 it finds the place for a server. Every choice is
// looked at where there are not too many; otherwise it begins with the best one after the other,
// and exchanges as long as that helps (Kaufman and Rousseeuw's PAM). Players and candidates are
// numbers of places. The choice is in rising order.
func (d *Delays) Medoids(players, candidates []int, k int) []int {
	k = min(k, len(candidates))
	if choices(len(candidates), k) <= 200_000 {
		return d.tryAll(players, candidates, k)
	}
	return d.exchange(players, candidates, k)
}

// choices is how many ways there are to take k of n, or very many.
func choices(n, k int) int {
	c := 1
	for i := range k {
		if c = c * (n - i) / (i + 1); c > 1<<40 {
			return c
		}
	}
	return c
}

// spread is what Medoids minimises.
func (d *Delays) spread(players, chosen []int) (sum time.Duration) {
	for _, p := range players {
		m := d.Nearest(p, chosen)
		sum += d.Way[p][m] + d.Way[m][p]
	}
	return sum
}

// Nearest is which of the chosen places is nearest to one, there and back.
func (d *Delays) Nearest(place int, chosen []int) int {
	best := chosen[0]
	for _, m := range chosen[1:] {
		if d.Way[place][m]+d.Way[m][place] < d.Way[place][best]+d.Way[best][place] {
			best = m
		}
	}
	return best
}

func (d *Delays) tryAll(players, candidates []int, k int) []int {
	var best []int
	var least time.Duration
	at := make([]int, 0, k)
	var next func(from int)
	next = func(from int) {
		if len(at) == k {
			if sum := d.spread(players, at); best == nil || sum < least {
				best, least = append(best[:0], at...), sum
			}
			return
		}
		for i := from; i < len(candidates); i++ {
			at = append(at, candidates[i])
			next(i + 1)
			at = at[:len(at)-1]
		}
	}
	next(0)
	return best
}

func (d *Delays) exchange(players, candidates []int, k int) (chosen []int) {
	// next is the candidate that costs least beside others.
	next := func(others []int) (best int, least time.Duration) {
		best = -1
		for _, c := range candidates {
			if slices.Contains(others, c) {
				continue
			}
			if sum := d.spread(players, append(others, c)); best < 0 || sum < least {
				best, least = c, sum
			}
		}
		return best, least
	}
	for range k {
		c, _ := next(chosen)
		chosen = append(chosen, c)
	}
	for now, better := d.spread(players, chosen), true; better; {
		slices.Sort(chosen)
		was := slices.Clone(chosen)
		better = false
		for i := range was {
			others := slices.Delete(slices.Clone(was), i, i+1)
			if c, sum := next(others); sum < now {
				chosen, now, better = append(others, c), sum, true
			}
		}
	}
	return chosen
}
