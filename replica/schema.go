package replica

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
)

// add describes a class to the codec: the kinds of its fields, and which are
// the rates of which.
func (p *Protocol) add(s *codec.Schema, name string, from *bits.Schema, policy Policy) error {
	c := class{name: name, fields: len(from.Slots), schema: from, policy: policy}
	fields, wrong := codecFields(from, policy)
	beyond, more := newThresholds(policy.Beyond, from)
	c.beyond, wrong = beyond, append(wrong, more...)
	if policy.Takeover && policy.TakenOver != nil {
		wrong = append(wrong, errors.New("it has both Takeover and TakenOver; leave out Takeover "+
			"if it depends on the entity, and otherwise TakenOver"))
	}
	if len(wrong) > 0 {
		return wrongClass(name, wrong)
	}
	c.sparse = policy.Interval > 0 || policy.Takeover || policy.TakenOver != nil || c.beyond != nil
	if len(fields) == 0 {
		fields = []codec.Field{{Name: "nothing", Rate: -1}} // a class needs one; it is zero
	}
	for at := 0; at < len(fields); {
		end := cut(fields, at)
		part := part{len(s.Classes), at, end}
		cc := codec.Class{Name: name}
		if at > 0 {
			cc.Name = fmt.Sprintf("%s from %s", name, fields[at].Name)
		} else if end == len(fields) {
			cc.Reckon = policy.Reckon
		}
		for _, f := range fields[at:end] {
			if f.Rate -= at; f.Rate < 0 || f.Rate >= end-at {
				f.Rate = -1
			}
			cc.Fields = append(cc.Fields, f)
		}
		s.Classes = append(s.Classes, cc)
		c.parts = append(c.parts, part)
		at = end
	}
	if policy.Reckon != nil && len(c.parts) > 1 {
		return fmt.Errorf("replica: class %s has %d numbers; one that is reckoned may have %d",
			name, len(fields), codec.MaxFields)
	}
	if len(s.Classes) > codec.MaxClasses {
		return fmt.Errorf(
			"replica: class %s and those before it are more than the %d that the codec takes", name,
			codec.MaxClasses)
	}
	p.classes = append(p.classes, c)
	return nil
}

// wrongClass says of which class each error is.
func wrongClass(name string, wrong []error) error {
	for i, err := range wrong {
		wrong[i] = fmt.Errorf("replica: class %s: %w", name, err)
	}
	return errors.Join(wrong...)
}

// cut says where a part that begins at a field ends: not inside of a rotation.
func cut(fields []codec.Field, at int) int {
	end := min(at+codec.MaxFields, len(fields))
	if end < len(fields) {
		for fields[end].Kind == codec.QuaternionPart {
			end--
		}
	}
	return end
}

// codecFields translates slots to the codec's fields, and says what is wrong with the policy.
func codecFields(s *bits.Schema, policy Policy) (fields []codec.Field, wrong []error) {
	fields = make([]codec.Field, len(s.Slots))
	index := make(map[string]int, len(fields))
	for i := range s.Slots {
		slot := &s.Slots[i]
		fields[i] = codec.Field{
			Name: slot.Name, Min: slot.Min, Max: slot.Max, Kind: kindOf(slot), Rate: -1}
		if slot.Kind == bits.KindQuat && !turns(s.Slots[i-slot.Part:]) {
			fields[i].Kind = codec.Number
		}
		index[slot.Name] = i
	}
	for _, name := range slices.Sorted(maps.Keys(policy.Kinds)) {
		i, ok := index[name]
		if !ok {
			wrong = append(wrong, fmt.Errorf("there is no field %q to have a kind; there are %s",
				name, names(s)))
			continue
		}
		fields[i].Kind = policy.Kinds[name]
	}
	for _, name := range slices.Sorted(maps.Keys(policy.Rates)) {
		rate := policy.Rates[name]
		i, ok := index[name]
		j, ok2 := index[rate]
		if !ok || !ok2 {
			wrong = append(wrong,
				fmt.Errorf("there are no fields %q and %q to be a number and its rate; "+
					"there are %s", name, rate, names(s)))
			continue
		}
		fields[i].Rate, fields[j].Kind = j, codec.Velocity
		if fields[i].Kind == codec.Discrete || fields[i].Kind == codec.Number {
			fields[i].Kind = codec.Position
		}
	}
	if policy.Rates == nil {
		pair(fields, index)
	}
	return fields, wrong
}

func names(s *bits.Schema) string {
	var list []string
	for i := range s.Slots {
		list = append(list, s.Slots[i].Name)
	}
	return strings.Join(list, ", ")
}

// kindOf guesses how a number behaves from what it is.
func kindOf(s *bits.Slot) codec.Kind {
	switch s.Kind {
	case bits.KindFloat, bits.KindSmallFloat, bits.KindFullFloat32, bits.KindDirection:
		return codec.Number
	case bits.KindVec2, bits.KindVec3:
		return codec.Position
	case bits.KindAngle:
		return codec.Angle
	case bits.KindQuat:
		if s.Part == 0 {
			return codec.Quaternion
		}
		return codec.QuaternionPart
	}
	return codec.Discrete
}

// turns says whether the codec takes a rotation of this precision for one.
func turns(quat []bits.Slot) bool {
	span := int64(quat[1].Max) - int64(quat[1].Min) + 1
	return span >= 8 && span <= 1<<16
}

// rateNames are what authors call a vector's rate of change.
var rateNames = []string{"Vel", "Velocity", "Speed"}

// pair finds positions and velocities by their names: "Vel.X" is taken for the
// rate of "Pos.X", where a class has one of each.
func pair(fields []codec.Field, index map[string]int) {
	for i := range fields {
		base, axis, ok := strings.Cut(fields[i].Name, ".")
		if !ok || fields[i].Kind != codec.Position {
			continue
		}
		prefix, found := "", false
		for _, n := range []string{"Pos", "Position", "At"} {
			if base == n || strings.HasSuffix(base, n) {
				prefix, found = strings.TrimSuffix(base, n), true
				break
			}
		}
		if !found {
			continue
		}
		for _, n := range rateNames {
			if j, ok := index[prefix+n+"."+axis]; ok && fields[j].Kind == codec.Position {
				fields[i].Rate, fields[j].Kind = j, codec.Velocity
				break
			}
		}
	}
}
