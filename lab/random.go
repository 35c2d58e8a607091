package lab

import "github.com/coeval-dev/coeval/netsim"

// Random makes keys, tokens and seeds of a simulated network's chance, so that they are the same in
// each run.
type Random struct{ *netsim.Rand }

func (r Random) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return len(b), nil
}

// Seed draws one.
func (r Random) Seed() (s [32]byte) {
	_, _ = r.Read(s[:]) // it never fails
	return s
}
