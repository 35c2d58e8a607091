package world

import "testing"

// After Turn only what Put has changed since counts as changed.
func TestTurn(t *testing.T) {
	all := divided(t, 4)
	from := all[0]
	w, err := seamless.New(Settings{Seed: 1, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []ID
	for id := range from.Entities() {
		if err := w.Host().Put(id, from.Host().Entry(id), from.Host().Image(id)); err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, id); !w.Host().Changed(id) {
			t.Errorf("%v has come, and not changed", id)
		}
	}
	w.Host().Turn(77)
	if w.Tick() != 77 || len(ids) < 2 {
		t.Fatal(w.Tick(), ids)
	}
	id := ids[0]
	if err := w.Host().Put(id, from.Host().Entry(id), from.Host().Image(id)); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if w.Host().Changed(id) != (i == 0) {
			t.Errorf("%v: changed is %v", id, w.Host().Changed(id))
		}
	}
}
