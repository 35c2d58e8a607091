package zone

// partKind says what a part of a message is.
type partKind uint8

const (
	partBeat   partKind = 1 // the server is there
	partItems  partKind = 2 // items of a stream
	partAnswer partKind = 3 // up to which number items were taken
	partGhost  partKind = 4 // what a zone shows another
	partSeen   partKind = 5 // up to which tick it was taken
	partOwner  partKind = 6 // who owns a zone, as far as is known
	partHold   partKind = 7 // a record to be held in memory
	partHeld   partKind = 8 // up to which they are
	partAsk    partKind = 9 // a zone is taken over: which are held
	partTell   partKind = 10
)

// A Message is for another server.
type Message struct {
	To ServerID
	// Loose says that it need not arrive, and should not be sent again when it is lost. Of what is
	// not loose, what is lost is sent again by the zones themselves after a while, so it is best
	// sent in a way that loses little.
	Loose bool
	// Data is good until the next call of the server.
	Data []byte
}

// passing says between which zones a part passes, and in which epoch of the one it is from.
type passing struct {
	from  ID
	epoch uint64
	to    ID
}

func (p passing) append(b []byte, kind partKind) []byte {
	b = append(b, byte(kind))
	b = appendUint(b, uint64(p.from))
	b = appendUint(b, p.epoch)
	return appendUint(b, uint64(p.to))
}

func (r *reader) passing() passing { return passing{r.id(), r.uint(), r.id()} }

// itemsPart is the head of a run of items, which follow.
type itemsPart struct {
	passing
	first uint64
	count int
}

func (p *itemsPart) append(b []byte) []byte {
	b = p.passing.append(b, partItems)
	b = appendUint(b, p.first)
	return appendUint(b, uint64(p.count))
}

func (r *reader) itemsPart() itemsPart {
	p := itemsPart{r.passing(), r.uint(), r.count(MaxMessage)}
	if p.first == 0 || p.first > 1<<62 {
		r.fail()
	}
	return p
}

// answerPart says how far items were taken, for good, up to which the zone's owner has more that
// wait, and whether something came that was sent after others that did not.
type answerPart struct {
	passing
	taken, have uint64
	gap         bool
}

func (p *answerPart) append(b []byte) []byte {
	b = p.passing.append(b, partAnswer)
	b = appendUint(b, p.taken)
	more := (p.have - p.taken) << 1
	if p.gap {
		more |= 1
	}
	return appendUint(b, more)
}

func (r *reader) answerPart() answerPart {
	p := answerPart{passing: r.passing(), taken: r.uint()}
	more := r.uint()
	if p.taken > 1<<62 || more > 1<<20 {
		r.fail()
	}
	p.have, p.gap = p.taken+more>>1, more&1 != 0
	return p
}

type ghostPart struct {
	passing
	tick, since Tick
	data        []byte
}

func (p *ghostPart) append(b []byte) []byte {
	b = p.passing.append(b, partGhost)
	b = appendUint(b, uint64(p.tick))
	b = appendUint(b, uint64(p.since))
	return appendBytes(b, p.data)
}

func (r *reader) ghostPart() ghostPart {
	p := ghostPart{r.passing(), Tick(r.uint()), Tick(r.uint()), nil}
	p.data = r.bytes(MaxShow)
	if p.since >= p.tick {
		r.fail()
	}
	return p
}

// seenPart answers a ghost: up to which tick of which epoch what was shown has been taken.
type seenPart struct {
	passing
	of   uint64
	tick Tick
}

func (p *seenPart) append(b []byte) []byte {
	b = p.passing.append(b, partSeen)
	b = appendUint(b, p.of)
	return appendUint(b, uint64(p.tick))
}

func (r *reader) seenPart() seenPart { return seenPart{r.passing(), r.uint(), Tick(r.uint())} }

type ownerPart struct {
	zone  ID
	epoch uint64
	owner ServerID // zero if it is not known
}

func (p *ownerPart) append(b []byte) []byte {
	b = append(b, byte(partOwner))
	b = appendUint(b, uint64(p.zone))
	b = appendUint(b, p.epoch)
	return appendUint(b, uint64(p.owner))
}

func (r *reader) ownerPart() ownerPart {
	return ownerPart{r.id(), r.uint(), ServerID(r.uint())}
}
