package crimp

// sendData builds, seals, keeps and queues a data packet.
func (g *Group) sendData(s Sequence, message []byte) {
	e := g.sending
	f := &g.forward
	content := g.order.content(g, f.contentOf(s), message)
	f.keep(s, content)

	depth, window := f.choose(g, s)
	size := headerSize + dataFixed + 1 + len(content) + sealSize + e.proofSize
	room := g.opt.Datagram - repairPrefix - size
	carried := 0
	depth = min(depth, int(s)-1)
	for i := range depth {
		before := f.contentOf(s - 1 - Sequence(i))
		need := lengthSize(len(before)) + len(before)
		if carried+need > room {
			depth = i
			break
		}
		carried += need
	}
	b := g.buffers.Get(size + carried + sealSlack)[:e.bodyAt]
	b = be.AppendUint32(b, g.clock())
	b = append(b, byte(depth))
	if window != 0 {
		b[len(b)-1] |= flagWindow
		b = append(b, window)
		carried++
	}
	for i := range depth {
		before := f.contentOf(s - 1 - Sequence(i))
		b = append(appendLength(b, len(before)), before...)
	}
	b = append(b, content...)
	b = g.seal(e, &header{kind: kindData, number: uint32(s)}, b)

	slot := g.self.at(s)
	*slot = slotZero
	slot.state, slot.how, slot.datagram, slot.interval = slotHave, Own, b, g.interval
	*g.self.sum(s) = g.lastSum()
	f.sentBytes(len(b)-carried, carried)
	g.pace.saw(len(b))
	g.ready = append(g.ready, outgoing{data: b, to: toAll, purpose: SentMessage,
		message: len(message), order: len(content) - len(message), forward: carried,
		proof: e.proofSize})
	if window != 0 {
		g.addToWindow(s, b)
	}
	if g.opt.Order == Total {
		g.enqueueContent(g.self, s, content, Own)
		g.pump()
	}
}
