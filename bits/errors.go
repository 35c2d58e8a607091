package bits

import "errors"

// What can go wrong. Errors are sticky: the first one stays and later calls do nothing, so a whole
// structure can be coded and the error looked at once. Use errors.Is; a FieldError around one of
// these says which field.
var (
	// ErrFull says that a Writer's buffer has no room for what was to be written.
	ErrFull = errors.New("bits: buffer is full; give the writer a larger one or rewind")
	// ErrShort says that a Reader came to the end before the value did: the data was cut, or is not
	// what it says it is.
	ErrShort = errors.New("bits: data ends too early")
	// ErrTrailing says that a Reader was closed with data left over: the writer and the reader do
	// not agree on what was sent.
	ErrTrailing = errors.New("bits: data left over after the last value")
	// ErrValue says that data or an image holds a value that no writer would have put there, or, in
	// a strict Sync, that the game gave a value that its field cannot hold.
	ErrValue = errors.New("value out of range")
	// ErrUse says that a call can never work as written, such as a range whose minimum is above its
	// maximum.
	ErrUse = errors.New("bad use")
	// ErrPath says that a Sync method took a way through its fields that reading, or the layout,
	// does not know.
	ErrPath = errors.New("unknown path")
)

// A FieldError says in which type and field something went wrong, for error messages a game's
// author can act on.
type FieldError struct {
	Type   string // the Go type, such as "tanks.Tank"; empty where no layout is in use
	Field  string // the field, such as "Pos" or "Items[2].Count"; empty where no layout is in use
	Detail string // what happened
	Err    error  // ErrValue, ErrUse or ErrPath
}

func (e *FieldError) Error() string {
	where := e.Type
	if e.Field != "" {
		if where != "" {
			where += "."
		}
		where += e.Field
	}
	if where != "" {
		where += ": "
	}
	return "bits: " + where + e.Err.Error() + ": " + e.Detail
}

// Unwrap lets errors.Is find the cause.
func (e *FieldError) Unwrap() error { return e.Err }
