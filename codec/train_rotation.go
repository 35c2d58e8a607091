package codec

import "math"

// rotation learns to predict a quaternion.
func (t *trainer) rotation(x *numberTrainer, index int, samples []sample) {
	m := x.m
	r := &m.rotations[index]
	rows := t.turnRows(x, index, samples)
	of := func(who []int) fitting {
		f := flatten(m.turnCandidates(), rows, who)
		f.compact, f.yield = x.compact, x.yield
		return f
	}
	r.choose = x.choose(m.numberFact(len(m.numbers), 0), of)
	r.sets = x.fitSets(int(r.choose.size), of)
	t.rotationSizes(x, index, samples)
}

// turnRow holds the turns that may predict a rotation, and last the one that came.
type turnRow [rotationTurns + 1][3]float32

// turnRows works out the turns of all samples.
func (t *trainer) turnRows(x *numberTrainer, index int, samples []sample) []turnRow {
	m := x.m
	r := &m.rotations[index]
	rows := make([]turnRow, len(samples))
	var h History
	c := &t.coder
	for j := range samples {
		s := &samples[j]
		t.pause(j)
		t.prepareRotation(x, j, s, &h)
		q0 := c.turnsOf(m, index, &h)
		for l := range rotationLogs {
			x.logs[j*x.logWidth+m.rotationLog(index, l)] = float32(c.logs[m.rotationLog(index, l)])
		}
		now := r.unpack(s.now()).since(q0)
		for k := range rotationTurns {
			u := c.turns[index*rotationTurns+k]
			rows[j][k] = [3]float32{
				float32(u.x) / rotOne, float32(u.y) / rotOne, float32(u.z) / rotOne}
		}
		x, y, z := float64(now.x)/rotOne, float64(now.y)/rotOne, float64(now.z)/rotOne
		half := math.Sqrt(x*x + y*y + z*z)
		k := 2.0
		if half > 1e-9 {
			k = 2 * math.Asin(min(half, 1)) / half
		}
		rows[j][rotationTurns] = [3]float32{float32(x * k), float32(y * k), float32(z * k)}
	}
	return rows
}

// prepareRotation is prepare for a rotation, before which the numbers of the sample are coded.
func (t *trainer) prepareRotation(x *numberTrainer, j int, s *sample, h *History) {
	m, c := x.m, &t.coder
	t.prepare(m, s, h)
	for i := range m.numbers {
		for _, k := range []int{change, miss} {
			f := m.numberFeature(i, k)
			c.features[f] = int64(x.features[j*x.width+f] * 256)
		}
		c.logs[m.numberLog(i, logMiss)] = int64(x.logs[j*x.logWidth+m.numberLog(i, logMiss)])
	}
}

// flatten makes three problems of one number each out of a rotation, in about the unit of its
// parts.
func flatten(cands []int, rows []turnRow, who []int) fitting {
	const unit = 512
	f := fitting{cands: cands}
	for _, j := range who {
		for a := range 3 {
			v := make([]float32, rotationTurns)
			for k := range v {
				v[k] = rows[j][k][a] * unit
			}
			f.rows, f.y = append(f.rows, v), append(f.y, float64(rows[j][rotationTurns][a])*unit)
		}
	}
	return f
}

// rotationSizes learns the expected error of each part in turn, from the errors that the coder
// itself makes.
func (t *trainer) rotationSizes(x *numberTrainer, index int, samples []sample) {
	m := x.m
	r := &m.rotations[index]
	r.largest = make([]table, largestTables)
	c := &t.coder
	var h History
	for k := range 3 {
		r.parts[k] = make([]predictor, r.choose.size)
	}
	for k := range 3 {
		errs := make([]float64, len(samples))
		for j := range samples {
			s := &samples[j]
			t.pause(j)
			t.prepareRotation(x, j, s, &h)
			c.watch = [3]int64{}
			now := append([]int32(nil), s.now()...)
			c.rotation(m, index, int(x.set[j]), &h, now)
			errs[j] = float64(c.watch[k]) / 256
			lm := logOf(c.watch[0])
			if k == 2 {
				lm = max(lm, logOf(c.watch[1]))
			}
			x.logs[j*x.logWidth+m.rotationLog(index, logTurnMiss)] = float32(lm)
		}
		x.sizes(r.parts[k], m.partCandidates(index, k), errs)
	}
	clear(c.count.counts)
}
