package lab

import "reflect"

// Less is what was counted between two moments: each number of a struct less what it was before.
func Less[T any](now, before T) T { return combine(now, before, -1) }

// Sum adds up each number of two structs.
func Sum[T any](a, b T) T { return combine(a, b, 1) }

func combine[T any](a, b T, sign int) T {
	out := reflect.ValueOf(&a).Elem()
	add(out, reflect.ValueOf(&b).Elem(), sign)
	return a
}

// add adds to all numbers in a, which is of the same type as b. Lists are made anew.
func add(a, b reflect.Value, sign int) {
	switch {
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			add(a.Field(i), b.Field(i), sign)
		}
	case !a.CanSet():
	case a.CanInt():
		a.SetInt(a.Int() + int64(sign)*b.Int())
	case a.CanUint():
		a.SetUint(a.Uint() + uint64(sign)*b.Uint())
	case a.CanFloat():
		a.SetFloat(a.Float() + float64(sign)*b.Float())
	case a.Kind() == reflect.Slice:
		list := reflect.MakeSlice(a.Type(), a.Len(), a.Len())
		reflect.Copy(list, a)
		a.Set(list)
		fallthrough
	case a.Kind() == reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			add(a.Index(i), b.Index(i), sign)
		}
	}
}
