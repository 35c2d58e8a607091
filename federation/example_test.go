package federation_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/federation"
)

// Two simulations that know nothing of each other: one has trains, the other watches them, and
// neither is ever told of its past.
func Example() {
	file, err := federation.ReadModel([]byte(`{"classes": [
		{"name": "train", "attributes": [{"name": "place", "order": "time"}]}]}`))
	if err != nil {
		panic(err)
	}
	model, _ := federation.NewModel(file)
	train, _ := model.Class("train")
	place, _ := model.Attribute(train, "place")
	x := federation.New(model, federation.Options{})

	rails, _ := x.Join("rails")
	_ = rails.EnableRegulation(5) // it says what happens 5 ahead
	_ = rails.Publish(train, place)
	signals, _ := x.Join("signals")
	_ = signals.EnableConstraint() // it wants that in order
	_ = signals.Subscribe(train, federation.Subscribing{}, place)

	id, _ := rails.Register(train, "express")
	for _, at := range []federation.Time{20, 10} {
		_, _ = rails.Update(id, []federation.Value{{Attribute: place,
			Data: fmt.Appendf(nil, "km %d", at)}}, federation.Sending{Stamped: true, Time: at})
	}
	_ = signals.AdvanceTo(15)
	_ = rails.AdvanceTo(11) // so nothing of before 16 can come any more

	for n, ok := signals.Next(); ok; n, ok = signals.Next() {
		switch n.Kind {
		case federation.Discovered:
			fmt.Println("there is", n.Name)
		case federation.Reflected:
			fmt.Printf("at %d: %s\n", n.Time, n.Values[0].Data)
		case federation.Granted:
			fmt.Println("the time is", n.Time)
		}
	}
	// Output:
	// there is express
	// at 10: km 10
	// the time is 15
}
