package bits

import (
	"reflect"
	"strconv"
	"unsafe"
)

// MaxSlots is the most numbers an image may have.
const MaxSlots = 1 << 16

// A Layout knows the images of one type: which field has which numbers, whatever branches its Sync
// method takes. It is made once, when a game is defined; after that it never changes, and any
// number of goroutines may use it, each with a Sync of its own.
type Layout struct {
	schema  Schema
	root    *scope
	pointer reflect.Type // of the Syncer
}

// NewLayout finds out what the Sync method of v's type does, by running it on values of its own
// making with every branch taken. Only v's type matters; a nil pointer will do:
//
//	layout, err := bits.NewLayout((*Tank)(nil))
//
// The error names the field if a range makes no sense, if reading takes another path than writing,
// or if a value outside the struct cannot be told from another.
func NewLayout(v Syncer) (*Layout, error) {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, &FieldError{
			Err: ErrUse, Detail: "a layout is made of a pointer to a struct with a Sync method"}
	}
	d := &definer{typ: t.Elem(), root: &sketch{typ: t.Elem(), size: t.Elem().Size()}}
	if err := d.explore(); err != nil {
		return nil, err
	}
	l := &Layout{schema: Schema{Name: t.Elem().String()}, pointer: t}
	var err error
	if l.root, err = d.root.finish(); err != nil {
		return nil, named(err, l.schema.Name)
	}
	l.root.describe(&l.schema, "", false)
	if err := l.Check(d.samples...); err != nil {
		return nil, err
	}
	return l, nil
}

// MustLayout is NewLayout for variables of a package, where an error is a mistake in the program.
func MustLayout(v Syncer) *Layout {
	l, err := NewLayout(v)
	if err != nil {
		panic(err)
	}
	return l
}

// Schema describes the images, for a codec and for tools. It is shared: do not change it.
func (l *Layout) Schema() *Schema { return &l.schema }

// Len is how many numbers an image has.
func (l *Layout) Len() int { return len(l.root.absent) }

// Absent is the image in which everything is absent. It must not be changed.
func (l *Layout) Absent() []int32 { return l.root.absent }

// Pack makes the image of v. The fields are left as they are; their quantised values go to the
// image. Numbers of branches not taken get the values that the schema says, so images of equal
// entities are equal.
func (l *Layout) Pack(s *Sync, v Syncer, image []int32) error {
	return l.run(s, packing, v, image)
}

// QuantiseInto makes the image of v and, in the same pass, replaces each field by its quantised
// value, so that v is what a reader of the image will hold.
func (l *Layout) QuantiseInto(s *Sync, v Syncer, image []int32) error {
	return l.run(s, replacing, v, image)
}

// Unpack sets the fields of v from an image. Fields of branches not taken are left alone. The image
// may come from a stranger: what is not in a field's range is an error.
func (l *Layout) Unpack(s *Sync, v Syncer, image []int32) error {
	return l.run(s, unpacking, v, image)
}

// Quantise replaces each field of v by its quantised value.
func (l *Layout) Quantise(s *Sync, v Syncer) error {
	return l.run(s, quantising, v, nil)
}

func (l *Layout) run(s *Sync, m mode, v Syncer, image []int32) error {
	if reflect.TypeOf(v) != l.pointer {
		return l.notFor(v)
	}
	if m != quantising && len(image) != len(l.root.absent) {
		return &FieldError{Type: l.schema.Name, Err: ErrUse,
			Detail: "image has " + strconv.Itoa(len(image)) + " numbers, the layout " +
				strconv.Itoa(len(l.root.absent))}
	}
	if m != quantising && m != unpacking {
		copy(image, l.root.absent)
	}
	s.start(m)
	s.layout = l
	s.base, s.size, s.fields, s.image = address(v), l.root.size, l.root.fields, image
	v.Sync(s)
	s.mode, s.base, s.image = idle, nil, nil // keep nothing of the caller's
	return s.err
}

// address is the pointer in v.
func (l *Layout) notFor(v Syncer) error {
	name := "nil"
	if t := reflect.TypeOf(v); t != nil {
		name = t.String()
	}
	return &FieldError{Type: l.schema.Name, Err: ErrUse, Detail: "the layout is not for " + name}
}

func address(v Syncer) unsafe.Pointer { return reflect.ValueOf(v).UnsafePointer() }

// named adds the type's name to an error.
func named(err error, name string) error {
	if e, ok := err.(*FieldError); ok && e.Type == "" {
		e.Type = name
	}
	return err
}
