package world

import (
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// A kind does with memory what only someone can do who knows the type in it. Everything else about
// entities is the same for all classes, and is written once, in table. The pointers are to values
// of the type, in memory that alloc made.
type kind interface {
	alloc(n int) unsafe.Pointer
	move(to, from unsafe.Pointer, n int) // n values that stand in a row, by plain copy
	clone(to, from unsafe.Pointer)       // one value with all that it points to
	wipe(p unsafe.Pointer, n int)
	syncer(p unsafe.Pointer) bits.Syncer
	step(p unsafe.Pointer, w *World, me ID)
	gather(p unsafe.Pointer, w *World, me ID)
	derive(p unsafe.Pointer)
	size() uintptr
	value(p unsafe.Pointer) any             // a pointer of the right type, for tools
	assign(p unsafe.Pointer, from any) bool // if from is a pointer of the right type
}

// kindOf is the kind of classes of type T. That a class's kind is a *kindOf[T] also tells, in one
// comparison, that T is its type.
type kindOf[T any] struct {
	syncs func(*T) bits.Syncer
}

func (*kindOf[T]) alloc(n int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]T, n)))
}

func (*kindOf[T]) move(to, from unsafe.Pointer, n int) {
	copy(unsafe.Slice((*T)(to), n), unsafe.Slice((*T)(from), n))
}

func (*kindOf[T]) clone(to, from unsafe.Pointer) {
	any((*T)(to)).(Copier[T]).CopyFrom((*T)(from))
}

func (*kindOf[T]) wipe(p unsafe.Pointer, n int)           { clear(unsafe.Slice((*T)(p), n)) }
func (k *kindOf[T]) syncer(p unsafe.Pointer) bits.Syncer  { return k.syncs((*T)(p)) }
func (*kindOf[T]) step(p unsafe.Pointer, w *World, me ID) { any((*T)(p)).(Stepper).Step(w, me) }
func (*kindOf[T]) derive(p unsafe.Pointer)                { any((*T)(p)).(Deriver).Derive() }
func (*kindOf[T]) gather(p unsafe.Pointer, w *World, me ID) {
	any((*T)(p)).(Gatherer).Gather(w, me)
}
func (*kindOf[T]) size() uintptr              { return unsafe.Sizeof(*new(T)) }
func (*kindOf[T]) value(p unsafe.Pointer) any { return (*T)(p) }

func (*kindOf[T]) assign(p unsafe.Pointer, from any) bool {
	v, ok := from.(*T)
	if ok && v != nil {
		*(*T)(p) = *v
	}
	return ok
}

// classOf finds the class with type T, or gives nil.
func classOf[T any](g *Game) *ClassInfo {
	for _, c := range g.classes {
		if _, ok := c.kind.(*kindOf[T]); ok {
			return c
		}
	}
	return nil
}
