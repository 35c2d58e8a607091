package codec

// What a predictor may look at is what both sides know when its turn comes. Training chooses from
// these lists, and tables that look at anything else are refused.

// candidates are the features that may help to predict a number: its own past, its rate,
// what was coded before it, and the reference.
func (m *classModel) candidates(i int) []int {
	n := &m.numbers[i]
	list := []int{featureOne, featureGap, featureSquare}
	own := []int{rate1, rate2, rate3}
	if m.fields[n.field].Kind == Velocity {
		own = append(own, baseValue)
		if h := m.heading; h.angle >= 0 && (i == h.x || i == h.y) {
			own = append(own, turnCos, turnSin, facing)
		}
	}
	for _, f := range own {
		list = append(list, m.numberFeature(i, f))
	}
	if m.reckon != nil {
		list = append(list, m.numberFeature(i, reckoned))
	}
	if n.rate >= 0 {
		for _, f := range []int{baseRate, nowRate, rate1} {
			list = append(list, m.numberFeature(n.rate, f))
		}
	}
	for j := range i {
		list = append(list, m.numberFeature(j, miss))
		if j != n.rate {
			list = append(list, m.numberFeature(j, change))
		}
	}
	if m.reference {
		for p, axes := range m.points {
			for a, k := range axes {
				if k == i {
					list = append(list, m.pointFeature(p, a, carried), m.pointFeature(p, a, slip),
						m.pointFeature(p, a, toward), m.pointFeature(p, a, pull))
				}
			}
		}
	}
	return list
}

// logCandidates are the logarithms that may tell how far off the prediction of a number is.
func (m *classModel) logCandidates(i int) []int {
	list := []int{logGap}
	for j := range i {
		list = append(list, m.numberLog(j, logMiss))
	}
	list = append(list, m.numberLog(i, logAcceleration), m.numberLog(i, logRate))
	if m.reference {
		for p := range m.points {
			list = append(list, m.pointLog(p, logSlip), m.pointLog(p, logCarried))
		}
	}
	return list
}

// turnCandidates are the turns that may help to predict a rotation.
func (m *classModel) turnCandidates() []int {
	if m.reference {
		return everyIndex(rotationTurns)
	}
	return append(everyIndex(turnCarried), turnRoll, turnRollMiss)
}

// partCandidates are the logarithms that may tell how far off a part of a rotation is.
func (m *classModel) partCandidates(rotation, part int) []int {
	list := []int{logGap}
	for j := range m.numbers {
		list = append(list, m.numberLog(j, logMiss))
	}
	for _, l := range []int{logTurnChange, logTurn, logTurnSlip} {
		list = append(list, m.rotationLog(rotation, l))
	}
	if m.reference {
		for p := range m.points {
			list = append(list, m.pointLog(p, logSlip))
		}
	}
	if part > 0 {
		list = append(list, m.rotationLog(rotation, logTurnMiss))
	}
	return list
}

func everyIndex(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
