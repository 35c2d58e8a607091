package mirror

// Decree says whether this mirror is the überserver, and the number of the decree by which there is
// one: whatever it has done outside of the game carries that number, so that an überserver that was
// replaced without knowing is refused.
func (m *Mirror) Decree() (leads bool, number uint64) {
	return m.leads(), uint64(m.roll.epoch)
}
