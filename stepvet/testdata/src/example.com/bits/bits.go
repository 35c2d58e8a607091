// Package bits stands in for the toolkit's package of that name.
package bits

type Sync struct{ n int }

func (s *Sync) Int(v *int, lo, hi int)                 { s.n++ }
func (s *Sync) Float(v *float64, lo, hi, step float64) { s.n++ }
