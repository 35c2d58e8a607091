package zone

import (
	"testing"
	"time"
)

// TestSlowerClaim has a server raise the epoch, stand still, and find that another has raised it
// again and fenced meanwhile: it must leave the journal alone.
func TestSlowerClaim(t *testing.T) {
	c := newCluster()
	key, data := Found(1, 0, &opaque{})
	c.store[key] = data
	first := Assignment{Owner: 1}
	c.entries[ZoneKey(1)] = Entry{ZoneKey(1), first.Append(nil), 1}
	c.n++
	s, err := New(0, Options{Self: 1, Body: func(ID) Body { return &opaque{} }})
	if err != nil {
		t.Fatal(err)
	}
	later := recordHead{kind: recordFence, epoch: 2, server: 2}
	fenced := false
	for now := time.Duration(0); now < 5*time.Second; now += time.Second / 60 {
		s.Tick(now)
		for ops := s.Ops(); len(ops) > 0; ops = s.Ops() {
			for i := range ops {
				op := ops[i]
				if op.Kind == Last && !fenced {
					fenced = true
					c.last[1] = Record{c.n + 1, appendSum(later.append(nil), 0)}
					c.n++
				}
				if op.Kind == Append {
					t.Fatalf("epoch %d is appended behind epoch 2", s.zones[0].entry.Epoch)
				}
				s.Done(now, c.do(&op))
			}
		}
		if fenced {
			break
		}
	}
	if st := s.Stats(); !fenced || st.Lost != 1 || len(s.zones) != 0 {
		t.Errorf("fenced %v, %+v", fenced, st)
	}
}
