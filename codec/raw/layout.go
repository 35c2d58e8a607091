package raw

import (
	mathbits "math/bits"

	"github.com/coeval-dev/coeval/codec"
)

// A Field says how one value is packed: as value - Min, in Width bits.
type Field struct {
	Min   int32
	Span  uint32 // the greatest value - Min
	Width int    // 0 to 32 bits
}

// Offset is what is packed for a value. It is above Span for a value that the field cannot hold.
func (f *Field) Offset(v int32) uint32 { return uint32(v - f.Min) }

// A Layout says how the image of a class is packed.
type Layout struct {
	Fields []Field
	Bits   int // the sum of the widths

	// Default is the base of an entity of which the receiver holds nothing: zero, or what is
	// nearest to it, in every field.
	Default []int32
}

// Layouts makes the layout of each class of a schema. It fails where the schema is not valid.
func Layouts(s *codec.Schema) ([]Layout, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	layouts := make([]Layout, len(s.Classes))
	for i := range layouts {
		l := &layouts[i]
		for _, f := range s.Classes[i].Fields {
			span := uint32(f.Max - f.Min)
			width := mathbits.Len32(span)
			l.Fields = append(l.Fields, Field{f.Min, span, width})
			l.Bits += width
			l.Default = append(l.Default, min(max(0, f.Min), f.Max))
		}
	}
	return layouts, nil
}

// Base is the image that an entity is compared with.
func (l *Layout) Base(h *codec.History) []int32 {
	if h.Len == 0 {
		return l.Default
	}
	return h.Images[0]
}
