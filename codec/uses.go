package codec

// uses is which facts, features and logarithms the decisions and predictors of a class look at.
// Coding gathers no others.
type uses struct {
	facts    [maxFacts]bool
	features [maxFeatures]bool
	logs     [maxLogs]bool
}

func (u *uses) context(c *context) {
	for _, s := range c.slots[:c.n] {
		u.facts[s] = true
	}
}

func (u *uses) predictors(list []predictor, features []bool) {
	for i := range list {
		p := &list[i]
		for _, t := range p.terms[:p.n] {
			features[t.slot] = true
		}
		for _, t := range p.logs[:p.logN] {
			u.logs[t.slot] = true
		}
	}
}

// moved says which of factMoved1 to factMoved3 are looked at.
func (u *uses) moved() [3]bool { return [3]bool(u.facts[factMoved1 : factMoved3+1]) }

// findUses works out what is ever looked at of each field.
func (m *classModel) findUses() {
	u := new(uses)
	u.context(&m.changed.context)
	m.changed.looks = u.moved()
	u.context(&m.quiet.context)
	for _, d := range m.discrete() {
		u.context(&d.context)
	}
	for i := range m.numbers {
		u.context(&m.numbers[i].choose)
		u.predictors(m.numbers[i].sets, u.features[:])
	}
	for i := range m.rotations {
		m.rotations[i].findTurns(u)
	}
	m.moved = u.moved()
	m.useFacts(u)
	m.useNumbers(u)
	for i := range m.rotations {
		r := &m.rotations[i]
		r.usesLog = [rotationLogs]bool(u.logs[m.rotationLog(i, 0):][:rotationLogs])
		if r.usesLog[logTurnChange] {
			r.usesPast = max(r.usesPast, 2)
		}
	}
}

// findTurns works out how far back a rotation looks.
func (r *rotationModel) findTurns(u *uses) {
	u.context(&r.choose)
	var turns [rotationTurns]bool
	u.predictors(r.sets, turns[:])
	for k := range r.parts {
		u.predictors(r.parts[k], nil)
	}
	switch {
	case turns[turn3]:
		r.usesPast = 3
	case turns[turn2]:
		r.usesPast = 2
	default:
		r.usesPast = 1
	}
}

// useFacts lists the discrete fields that facts are gathered about.
func (m *classModel) useFacts(u *uses) {
	for _, d := range m.discrete() {
		d.uses = [discreteFacts]bool(u.facts[firstFact+d.index*discreteFacts:][:discreteFacts])
		d.usesPast = d.uses[factChanged] || d.uses[factBase] || d.uses[factPhase]
		d.usesNow = d.uses[factSymbol] || d.uses[factValue]
	}
	m.lists = fieldLists{}
	for i, d := range m.discrete() {
		frozen := i >= len(m.frequent)+len(m.rare)
		if i >= len(m.frequent) {
			m.lists.rare = append(m.lists.rare, d.field)
		}
		if frozen {
			m.lists.frozen = append(m.lists.frozen, d.field)
			continue
		}
		if d.usesPast {
			m.lists.past = append(m.lists.past, d)
		}
		if i >= len(m.frequent) && d.usesNow {
			m.lists.now = append(m.lists.now, d)
		}
	}
}

// useNumbers says of each number what is gathered about it.
func (m *classModel) useNumbers(u *uses) {
	for i := range m.numbers {
		n := &m.numbers[i]
		n.uses = [numberFeatures]bool(u.features[m.numberFeature(i, 0):][:numberFeatures])
		n.usesLog = [numberLogs]bool(u.logs[m.numberLog(i, 0):][:numberLogs])
	}
	for i, p := range m.points { // positions steer rotations, and show whether an entity is carried
		for a, k := range p {
			n := &m.numbers[k]
			if m.reference {
				n.uses[rate1], n.uses[rate2] = true, true
			}
			if len(m.rotations) > 0 && i == 0 && a < 2 {
				n.uses[change], n.uses[miss] = true, true
			}
		}
	}
	if h := &m.heading; h.angle >= 0 {
		x, y := &m.numbers[h.x].uses, &m.numbers[h.y].uses
		h.used = x[turnCos] || x[turnSin] || x[facing] || y[turnCos] || y[turnSin] || y[facing]
	}
	for i := range m.numbers {
		n := &m.numbers[i]
		n.usesLogs = n.usesLog[logAcceleration] || n.usesLog[logRate]
		n.usesBase = n.uses[baseRate] || n.uses[baseValue]
		n.usesNow = n.uses[nowRate]
		n.usesMiss = n.usesLog[logMiss] || u.facts[m.numberFact(i, factMiss)]
		switch {
		case n.uses[rate3]:
			n.usesRates = 3
		case n.uses[rate2] || n.usesLog[logAcceleration]:
			n.usesRates = 2
		case n.uses[rate1] || n.usesLog[logRate]:
			n.usesRates = 1
		default:
			n.usesRates = 0
		}
	}
}
