package codec

// link works out, from the decisions and predictors of a model, which facts, features and logarithms of each field
// are ever looked at, so that coding gathers no others.
func (m *Model) link() {
	for i := range m.classes {
		m.classes[i].link()
	}
}

func (m *classModel) link() {
	facts := make([]bool, maxFacts)
	features := make([]bool, maxFeatures)
	logs := make([]bool, maxLogs)
	context := func(c *context) {
		for _, s := range c.slots[:c.n] {
			facts[s] = true
		}
	}
	predictors := func(list []predictor, features []bool) {
		for i := range list {
			p := &list[i]
			for _, t := range p.terms[:p.n] {
				features[t.slot] = true
			}
			for _, t := range p.logs[:p.logN] {
				logs[t.slot] = true
			}
		}
	}
	context(&m.changed.context)
	m.changed.looks = [3]bool{facts[factMoved1], facts[factMoved2], facts[factMoved3]}
	context(&m.quiet.context)
	for _, list := range [][]discreteModel{m.frequent, m.rare, m.frozen} {
		for i := range list {
			context(&list[i].context)
		}
	}
	for i := range m.numbers {
		context(&m.numbers[i].choose)
		predictors(m.numbers[i].sets, features)
	}
	for i := range m.rotations {
		r := &m.rotations[i]
		context(&r.choose)
		turns := make([]bool, rotationTurns)
		predictors(r.sets, turns)
		for k := range r.parts {
			predictors(r.parts[k], nil)
		}
		r.usesPast = 1
		if turns[turn2] {
			r.usesPast = 2
		}
		if turns[turn3] {
			r.usesPast = 3
		}
	}

	m.moved = [3]bool{facts[factMoved1], facts[factMoved2], facts[factMoved3]}
	for _, list := range [][]discreteModel{m.frequent, m.rare, m.frozen} {
		for i := range list {
			d := &list[i]
			s := facts[firstFact+d.index*discreteFacts:]
			d.uses = [discreteFacts]bool(s[:discreteFacts])
			d.usesPast = d.uses[factStirred] || d.uses[factBase] || d.uses[factPhase]
			d.usesNow = d.uses[factSymbol] || d.uses[factValue]
		}
	}
	m.lists = fieldLists{}
	for i := range m.frequent {
		if d := &m.frequent[i]; d.usesPast {
			m.lists.past = append(m.lists.past, d)
		}
	}
	for i := range m.rare {
		d := &m.rare[i]
		m.lists.rare = append(m.lists.rare, d.field)
		if d.usesPast {
			m.lists.past = append(m.lists.past, d)
		}
		if d.usesNow {
			m.lists.now = append(m.lists.now, d)
		}
	}
	for i := range m.frozen {
		m.lists.rare = append(m.lists.rare, m.frozen[i].field)
		m.lists.cold = append(m.lists.cold, m.frozen[i].field)
	}
	for i := range m.numbers {
		n := &m.numbers[i]
		n.uses = [numberFeatures]bool(features[m.numberFeature(i, 0):][:numberFeatures])
		n.usesLog = [numberLogs]bool(logs[m.numberLog(i, 0):][:numberLogs])
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
	for i := range m.rotations {
		r := &m.rotations[i]
		r.usesLog = [rotationLogs]bool(logs[m.rotationLog(i, 0):][:rotationLogs])
		if r.usesLog[logTurnChange] {
			r.usesPast = max(r.usesPast, 2)
		}
	}
	if h := &m.heading; h.angle >= 0 {
		x, y := &m.numbers[h.x], &m.numbers[h.y]
		h.used = x.uses[turnCos] || x.uses[turnSin] || x.uses[facing] || y.uses[turnCos] || y.uses[turnSin] || y.uses[facing]
	}
	for i := range m.numbers {
		n := &m.numbers[i]
		n.usesLogs = n.usesLog[logAcceleration] || n.usesLog[logRate]
		n.usesBase = n.uses[baseRate] || n.uses[baseValue]
		n.usesNow = n.uses[nowRate]
		n.usesMiss = n.usesLog[logMiss] || facts[m.numberFact(i, factMiss)]
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
