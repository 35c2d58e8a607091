package directory

// This file is the rating of players by Elo's way, in integers, so that the same results give the
// same ratings everywhere. Of a match of several each pair counts as a match of two, for its share.

// FirstRating is that of somebody new, in thousandths of a point.
const FirstRating int64 = 1_500_000

// mostWon is how much of a rating a match of two can change, in thousandths.
const mostWon int64 = 32_000

// expected has what the better of two wins of a thousand matches, where the difference is 25 points
// for each step: 1000/(1+10^(-d/400)).
var expected = [...]int64{500, 536, 571, 606, 640, 673, 703, 733, 760, 785, 808, 830, 849, 867, 882,
	896, 909, 920, 930, 939, 947, 954, 960, 965, 969, 973, 977, 980, 983, 985, 987, 989, 990}

const ratingStep int64 = 25_000

// expects is what somebody wins of a thousand matches against another.
func expects(mine, other int64) int64 {
	d := mine - other
	if d < 0 {
		return 1000 - expects(other, mine)
	}
	i := d / ratingStep
	if i >= int64(len(expected))-1 {
		return expected[len(expected)-1]
	}
	return expected[i] + (expected[i+1]-expected[i])*(d%ratingStep)/ratingStep
}

// Rate gives what ratings become by a match, in thousandths of a point. Ranks begin at 1, which is
// the best; those with the same rank have drawn. What some gain others lose.
func Rate(ratings []int64, ranks []int) []int64 {
	out := append([]int64(nil), ratings...)
	others := int64(len(ratings) - 1)
	for i := range ratings {
		for j := i + 1; j < len(ratings); j++ {
			won := int64(500)
			if ranks[i] < ranks[j] {
				won = 1000
			} else if ranks[i] > ranks[j] {
				won = 0
			}
			d := mostWon * (won - expects(ratings[i], ratings[j])) / 1000 / others
			out[i] += d
			out[j] -= d
		}
	}
	return out
}
