package federation

import (
	"testing"

	"github.com/coeval-dev/coeval/federation"
)

// Whatever a federate says is answered, and harms neither the others nor the server.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`{"call": "publish", "class": "c", "attributes": ["p"]}
{"id": 2, "call": "register", "class": "c", "name": "o"}
{"call": "update", "object": 1, "values": {"p": "AAAA"}, "time": 3}
{"call": "subscribe", "class": "c", "attributes": ["p"], "regions": [1]}`))
	f.Add([]byte(`{"call": "createRegion", "ranges": {"x": [0, 5]}}
{"call": "setRegion", "region": 1, "ranges": {"x": [9, 1]}}
{"call": "constrain"}
{"call": "flush", "time": 9000000000000000000}`))
	f.Add([]byte(`{"call": "save", "name": "s"}
{"call": "saved"}
{"call": "restore", "name": "s"}
{"call": "saved"}
{"call": "resign"}`))
	f.Add([]byte(`{"call": "extend", "model": {"classes": [{"name": "c", "attributes": [{"name": "q"}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := federation.ReadModel([]byte(`{"dimensions": [{"name": "x", "upper": 10}],
			"classes": [{"name": "c", "attributes": [{"name": "p", "dimensions": ["x"]}]}],
			"interactions": [{"name": "i", "parameters": ["v"]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		m, err := federation.NewModel(file)
		if err != nil {
			t.Fatal(err)
		}
		e := &execution{name: "f", x: federation.New(m, federation.Options{})}
		s := &Server{}
		seats := make([]*seat, 2)
		for i, name := range []string{"a", "b"} {
			f, err := e.x.Join(name)
			if err != nil {
				t.Fatal(err)
			}
			seats[i] = &seat{s: s, e: e, x: e.x, f: f, wake: make(chan struct{}, 1)}
		}
		e.in = seats
		seats[0].serve(data)
		seats[1].serve([]byte(`{"call": "subscribe", "class": "c", "attributes": ["p"]}`))
		if seats[1].f.Left() {
			t.Fatal("another federate is put out")
		}
		seats[1].serve(data)
	})
}
