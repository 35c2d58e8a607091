package kept

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
)

// A Deal is a request that is being executed, within one transaction of the store.
type Deal struct {
	plan    *plan
	tx      Tx
	schemas map[uint64]*Schema
	parties []Row // as they were in the world when it was asked
	open    []*stake
	broken  error // the store failed, so that all is tried again
	wrong   error // the request did something that cannot be
}

// A stake is something that a request has looked at, and may have changed.
type stake struct {
	party  int // or -1
	key    Key
	class  *class
	value  reflect.Value // a pointer to it
	before []byte
}

// Party is what is kept of one of the entities that a request is about, by its place among them:
// the fields that are kept, and zeros for the rest. What is changed of it is written if the request
// succeeds. If the party is of another class that is the answer, whatever else is done.
func Party[T any](d *Deal, n int) *T {
	out := new(T)
	if n < 0 || n >= len(d.parties) {
		d.fail(fmt.Errorf("the request has no party %d", n))
		return out
	}
	row := &d.parties[n]
	for _, s := range d.open {
		if s.party == n {
			if same, ok := s.value.Interface().(*T); ok {
				return same
			}
		}
	}
	c := d.plan.types[reflect.TypeFor[T]()]
	if c == nil || c.Class != row.Key.Class {
		d.fail(fmt.Errorf("party %d is a %s, and not a %T", n, row.Key.Class, *out))
		return out
	}
	return d.take(c, n, *row, out).(*T)
}

// Row is what is kept of an account, character or thing that need not be in any world, such as a
// mailbox, by the class that declares it. Without a row it is a zero value. What is changed of it
// is written if the request succeeds. It is for what no session has loaded: what one has is
// written by it, whatever a request of others has made of it.
func (d *Deal) Row(of string, into any) {
	v := reflect.ValueOf(into)
	var c *class
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		c = d.plan.types[v.Type().Elem()]
	}
	if c == nil || of == "" || len(of) > maxName {
		d.fail(fmt.Errorf("a %T of %q is not kept; give a pointer to a class that has a method "+
			"Kept, and a name of at most %d bytes", into, of, maxName))
		return
	}
	key := Key{c.Class, c.Scope, of}
	row, ok, err := d.tx.Get(key)
	if err != nil {
		d.broken = errors.Join(d.broken, err)
		return
	}
	if !ok {
		row = Row{Key: key}
	}
	d.take(c, -1, row, into)
}

func (d *Deal) fail(err error) { d.wrong = errors.Join(d.wrong, err) }

// take reads a row into a value, and remembers it.
func (d *Deal) take(c *class, party int, row Row, into any) any {
	s := &stake{party: party, key: row.Key, class: c, value: reflect.ValueOf(into)}
	if row.Data != nil {
		if schema := d.schemas[row.Schema]; schema == nil {
			d.fail(fmt.Errorf("%w: a row of %s has schema %016x, which nobody knows", ErrOther,
				c.Class, row.Schema))
		} else if patch, err := c.load(schema, row.Data); err != nil {
			d.fail(err)
		} else {
			d.fail(c.patch(s.value.UnsafePointer(), patch))
		}
	}
	s.before = c.append(nil, s.value.UnsafePointer())
	d.open = append(d.open, s)
	return into
}

// execute does the request, and writes what it has changed.
func (d *Deal) execute(k *requestKind, data []byte, question uint64) ([]byte, error) {
	for _, row := range d.parties {
		if err := d.tx.Put(row); err != nil {
			return nil, err
		}
	}
	answer, err := k.execute(d, data)
	if d.broken != nil {
		return nil, d.broken
	}
	err = errors.Join(d.wrong, err)
	o := outcome{question: question, answer: answer}
	var rows []Row
	if err == nil {
		rows, o.changes, err = d.changes()
	}
	if err != nil {
		o = outcome{question: question, refused: shorten(err.Error())}
		return o.append(nil), nil
	}
	out := o.append(nil)
	if len(out) > maxAnswer {
		o = outcome{question: question, refused: "the answer is too long"}
		return o.append(nil), nil
	}
	for _, row := range rows {
		if err := d.tx.Put(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func shorten(s string) string {
	if s == "" {
		return "refused"
	}
	return s[:min(len(s), maxReason)]
}

// changes are what the request has made of what it looked at.
func (d *Deal) changes() (rows []Row, list []change, err error) {
	for _, s := range d.open {
		c, at := s.class, s.value.UnsafePointer()
		after := c.append(nil, at)
		if bytes.Equal(after, s.before) {
			continue
		}
		old, err := c.read(s.before)
		if err != nil {
			return nil, nil, err
		}
		var patch []byte
		for i := range c.leaves {
			l := &c.leaves[i]
			v := l.get(at)
			if !l.limits.in(v) {
				return nil, nil, fmt.Errorf("%s.%s would be %v, which is not within %s", c.Class,
					l.path, v, l.limits.text(l.kind))
			}
			if v != old[i] {
				patch = appendPatch(patch, i, v)
			}
		}
		rows = append(rows, Row{s.key, c.hash, after})
		if s.party >= 0 {
			list = append(list, change{s.party, c.hash, patch})
		}
	}
	return rows, list, nil
}
