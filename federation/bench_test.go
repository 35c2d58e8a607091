package federation_test

import (
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/federation"
)

// fleet is an execution of 100 federates with 10,000 objects, of each of which five are told.
func fleet(b *testing.B, timed bool) (*federation.Execution, []*federation.Federate) {
	b.Helper()
	file := &federation.ModelFile{}
	order := "receive"
	if timed {
		order = "time"
	}
	for i := range 100 {
		file.Classes = append(file.Classes, federation.ClassFile{Name: fmt.Sprintf("c%d", i),
			Attributes: []federation.AttributeFile{{Name: "place", Order: order}}})
	}
	m, err := federation.NewModel(file)
	if err != nil {
		b.Fatal(err)
	}
	x := federation.New(m, federation.Options{})
	for i := range 100 {
		f, err := x.Join(fmt.Sprintf("f%d", i))
		if err != nil {
			b.Fatal(err)
		}
		if timed {
			_ = f.EnableRegulation(10)
			_ = f.EnableConstraint()
		}
	}
	all := x.Federates()
	for i, f := range all {
		for k := range 6 {
			c := federation.ClassID(1 + (i+k)%100)
			if k == 0 {
				err = f.Publish(c, m.Classes[c].Attributes...)
			} else {
				err = f.Subscribe(c, federation.Subscribing{}, m.Classes[c].Attributes[1])
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range 10_000 {
		if _, err := all[i%100].Register(federation.ClassID(1+i%100), ""); err != nil {
			b.Fatal(err)
		}
	}
	drain(all)
	return x, all
}

func drain(all []*federation.Federate) (n int) {
	for _, f := range all {
		for _, ok := f.Next(); ok; _, ok = f.Next() {
			n++
		}
	}
	return n
}

// An update that five are told, in the order of receipt.
func BenchmarkUpdate(b *testing.B) {
	x, all := fleet(b, false)
	m := x.Model()
	values := []federation.Value{{Data: make([]byte, 24)}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c := federation.ClassID(1 + i%100)
		values[0].Attribute = m.Classes[c].Attributes[1]
		if _, err := all[i%100].Update(federation.ObjectID(1+i%10_000), values,
			federation.Sending{}); err != nil {
			b.Fatal(err)
		}
		if i++; i%100 == 0 && drain(all) != 500 {
			b.Fatal("not everybody is told")
		}
	}
}

// The same by time, with all advancing by the look-ahead when each has sent ten.
func BenchmarkUpdateByTime(b *testing.B) {
	x, all := fleet(b, true)
	m := x.Model()
	values := []federation.Value{{Data: make([]byte, 24)}}
	b.ReportAllocs()
	i, now := 0, federation.Time(0)
	for b.Loop() {
		c := federation.ClassID(1 + i%100)
		values[0].Attribute = m.Classes[c].Attributes[1]
		if _, err := all[i%100].Update(federation.ObjectID(1+i%10_000), values,
			federation.Sending{Stamped: true, Time: now + 10}); err != nil {
			b.Fatal(err)
		}
		if i++; i%1000 == 0 {
			now += 10
			for _, f := range all {
				if err := f.AdvanceTo(now); err != nil {
					b.Fatal(err)
				}
			}
			drain(all)
		}
	}
}
