package zone

// Parts of messages about records that are held in memory.

// holdPart is a record, or a part of one, for a buddy to hold.
type holdPart struct {
	zone          ID
	epoch         uint64
	number, first uint64 // of the record, and of the first that the journal lacks
	total, offset int
	data          []byte
}

func (p *holdPart) append(b []byte) []byte {
	b = append(b, byte(partHold))
	b = appendUint(b, uint64(p.zone))
	b = appendUint(b, p.epoch)
	b = appendUint(b, p.number)
	b = appendUint(b, p.number-p.first)
	b = appendUint(b, uint64(p.total))
	b = appendUint(b, uint64(p.offset))
	return appendBytes(b, p.data)
}

func (r *reader) holdPart() (p holdPart) {
	p.zone, p.epoch, p.number = r.id(), r.uint(), r.uint()
	back := r.uint()
	p.total, p.offset = r.size(MaxRecord), r.size(MaxRecord)
	p.data = r.bytes(maxChunk)
	if p.number == 0 || p.number > 1<<62 || back >= p.number || len(p.data) == 0 ||
		p.offset+len(p.data) > p.total {
		r.fail()
	}
	p.first = p.number - back
	return p
}

// heldPart answers it: up to which record all are held, whether what came does not follow these,
// and whether none is taken any more.
type heldPart struct {
	zone          ID
	epoch, number uint64
	gap, refused  bool
}

func (p *heldPart) append(b []byte) []byte {
	var flags byte
	if p.gap {
		flags |= 1
	}
	if p.refused {
		flags |= 2
	}
	b = append(b, byte(partHeld))
	b = appendUint(b, uint64(p.zone))
	b = appendUint(b, p.epoch)
	b = appendUint(b, p.number)
	return append(b, flags)
}

func (r *reader) heldPart() heldPart {
	p := heldPart{zone: r.id(), epoch: r.uint(), number: r.uint()}
	flags := r.byte()
	if flags > 3 {
		r.fail()
	}
	p.gap, p.refused = flags&1 != 0, flags&2 != 0
	return p
}

// askPart says that a zone is taken over in an epoch, and asks what is held of it: beside how much
// that is, the record with a number, from an offset on. Number zero is for none.
type askPart struct {
	zone          ID
	epoch, number uint64
	offset        int
}

func (p *askPart) append(b []byte) []byte {
	b = append(b, byte(partAsk))
	b = appendUint(b, uint64(p.zone))
	b = appendUint(b, p.epoch)
	b = appendUint(b, p.number)
	return appendUint(b, uint64(p.offset))
}

func (r *reader) askPart() askPart {
	return askPart{r.id(), r.uint(), r.uint(), r.size(MaxRecord)}
}

// tellPart answers it: of which epoch records are held, from and to which number, and a part of
// one.
type tellPart struct {
	zone           ID
	epoch          uint64
	refused        bool // there is a later epoch
	of, first, end uint64
	number         uint64
	total, offset  int
	data           []byte
}

func (p *tellPart) append(b []byte) []byte {
	b = append(b, byte(partTell))
	b = appendUint(b, uint64(p.zone))
	b = appendUint(b, p.epoch)
	if p.refused {
		return append(b, 1)
	}
	b = append(b, 0)
	b = appendUint(b, p.of)
	b = appendUint(b, p.first)
	b = appendUint(b, p.end-p.first)
	b = appendUint(b, p.number)
	b = appendUint(b, uint64(p.total))
	b = appendUint(b, uint64(p.offset))
	return appendBytes(b, p.data)
}

func (r *reader) tellPart() (p tellPart) {
	p.zone, p.epoch = r.id(), r.uint()
	switch r.byte() {
	case 0:
	case 1:
		p.refused = true
		return p
	default:
		r.fail()
	}
	p.of, p.first = r.uint(), r.uint()
	p.end = p.first + r.uint()
	p.number = r.uint()
	p.total, p.offset = r.size(MaxRecord), r.size(MaxRecord)
	p.data = r.bytes(maxChunk)
	if p.first == 0 || p.end < p.first || p.end > 1<<62 || p.offset+len(p.data) > p.total {
		r.fail()
	}
	return p
}

// size reads a number of bytes that are not all here.
func (r *reader) size(most int) int {
	v := r.uint()
	if v > uint64(most) {
		r.fail()
		return 0
	}
	return int(v)
}
