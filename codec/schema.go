package codec

import (
	"errors"
	"strconv"
)

// Schema says what the images of a game look like: its classes, their fields
// and what the fields mean. It is the only thing a game must supply; tables
// trained from recordings make the coding tighter but are not needed.
type Schema struct {
	Name    string
	Classes []Class
}

// Class is one kind of entity.
type Class struct {
	Name   string
	Fields []Field

	// Reckon, if set, is the game's own prediction: from what is known of an entity it says what
	// its numbers should be now. It is handed the base in now, and changes what it knows better;
	// rotations and discrete fields are left out of account. It counts for as much as training
	// finds it to be worth, or alone where nothing was trained. It must give the same result on
	// every machine, so it should use integers or package det.
	Reckon func(h *History, now []int32)

	// Reference is set for classes whose entities may be carried by a
	// reference entity (see Packet.Reference), so that the motion of that
	// entity helps to predict theirs.
	Reference bool
}

// Field is one integer of an image, with its range and its meaning.
type Field struct {
	Name     string
	Min, Max int32
	Kind     Kind

	// Rate names, for a field of kind Position or Number, the field of the
	// same class that holds its rate of change (-1 or its own index: none).
	Rate int
}

// Kind tells the codec how a field tends to behave. A wrong kind costs bytes,
// never correctness.
type Kind uint8

const (
	// Discrete is a field that is set rather than moved: a weapon, a flag, a
	// counter. It is the kind of a field about which nothing is known.
	Discrete Kind = iota
	// Number moves by amounts that its recent past suggests.
	Number
	// Velocity is a Number that is coded before the positions it moves.
	Velocity
	// Position is a Number that may be paired with a Velocity; three in a row
	// are a point in space.
	Position
	// Angle is a Number that wraps from Max to Min.
	Angle
	// Quaternion is the first of four fields that hold a rotation as the
	// smallest three: the index of the largest component, in the order x, y,
	// z, w, then the others, which have kind QuaternionPart and whose range
	// stands for -1/sqrt(2) to 1/sqrt(2).
	Quaternion
	// QuaternionPart is one of the three small components of a Quaternion.
	QuaternionPart
)

// Limits of a schema. They bound what a table file can ask for.
const (
	MaxClasses = 256
	MaxFields  = 64
)

// Validate reports the first thing that is wrong with the schema.
func (s *Schema) Validate() error {
	if len(s.Classes) == 0 || len(s.Classes) > MaxClasses {
		return errors.New("codec: schema " + s.Name + " has " + strconv.Itoa(len(s.Classes)) +
			" classes; it needs 1 to " + strconv.Itoa(MaxClasses))
	}
	for i := range s.Classes {
		if err := s.Classes[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Class) validate() error {
	bad := func(field int, what string) error {
		return errors.New("codec: class " + c.Name + ", field " + c.Fields[field].Name + ": " +
			what)
	}
	if len(c.Fields) == 0 || len(c.Fields) > MaxFields {
		return errors.New("codec: class " + c.Name + " has " + strconv.Itoa(len(c.Fields)) +
			" fields; it needs 1 to " + strconv.Itoa(MaxFields))
	}
	for i, f := range c.Fields {
		if f.Min > f.Max {
			return bad(i, "min is greater than max")
		}
		if f.Rate >= len(c.Fields) {
			return bad(i, "its rate is a field that does not exist")
		}
		switch f.Kind {
		case Quaternion:
			if i+3 >= len(c.Fields) {
				return bad(i, "a quaternion needs three parts after it")
			}
			if f.Min != 0 || f.Max != 3 {
				return bad(i, "the largest component's index must range from 0 to 3")
			}
			for j := i + 1; j <= i+3; j++ {
				p := c.Fields[j]
				if p.Kind != QuaternionPart {
					return bad(j, "must be a part of the quaternion before it")
				}
				if p.Min != c.Fields[i+1].Min || p.Max != c.Fields[i+1].Max || p.span() < 8 ||
					p.span() > 1<<16 {
					return bad(j,
						"parts of a quaternion must all have the same range, of 8 to 65536 values")
				}
			}
		case QuaternionPart:
			if i == 0 || c.Fields[i-1].Kind != Quaternion && c.Fields[i-1].Kind != QuaternionPart {
				return bad(i, "stands without a quaternion")
			}
		case Discrete, Number, Velocity, Position, Angle:
		default:
			return bad(i, "unknown kind")
		}
	}
	return nil
}

// span is the number of values that the field can take.
func (f *Field) span() int64 { return int64(f.Max) - int64(f.Min) + 1 }

// mid is the field's zero, for fields that have a sign.
func (f *Field) mid() int32 { return int32((int64(f.Min) + int64(f.Max) + 1) / 2) }
