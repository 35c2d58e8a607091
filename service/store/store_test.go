package store_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

// purse is the key of an account's gold.
func purse(of string) kept.Key { return kept.Key{Class: "Purse", Scope: kept.Account, Of: of} }

// gold is a purse as a row.
func gold(of string, n uint64) kept.Row {
	return kept.Row{Key: purse(of), Schema: 1<<63 + 7, Data: binary.LittleEndian.AppendUint64(nil,
		n)}
}

// in is what is in a purse.
func in(r kept.Row) uint64 {
	if r.Data == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(r.Data)
}

// trade moves gold from one to another, and answers what the two have then.
func trade(from, to string, n uint64) func(kept.Tx) ([]byte, error) {
	return func(tx kept.Tx) ([]byte, error) {
		a, _, err := tx.Get(purse(from))
		if err != nil {
			return nil, err
		}
		b, _, err := tx.Get(purse(to))
		if err != nil {
			return nil, err
		}
		if in(a) < n || from == to {
			return []byte("refused"), nil
		}
		if err := tx.Put(gold(from, in(a)-n)); err != nil {
			return nil, err
		}
		if err := tx.Put(gold(to, in(b)+n)); err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, "%d %d", in(a)-n, in(b)+n), nil
	}
}

func TestRows(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		empty := kept.Row{Key: kept.Key{Class: "Bag", Scope: kept.Thing, Of: "chest ü"},
			Data: []byte{}}
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 3), empty, gold("bob", 9),
			gold("ann", 4)}))
		check := func(want ...kept.Row) {
			t.Helper()
			var keys []kept.Key
			for _, r := range want {
				keys = append(keys, r.Key)
			}
			got, err := s.Load(t.Context(), keys)
			must(t, err)
			for i := range want {
				if got[i].Key != want[i].Key || got[i].Schema != want[i].Schema ||
					!slices.Equal(got[i].Data, want[i].Data) ||
					(got[i].Data == nil) != (want[i].Data == nil) {
					t.Errorf("%v is %v, want %v", want[i].Key, got[i], want[i])
				}
			}
		}
		check(gold("bob", 9), kept.Row{Key: purse("eve")}, empty, gold("ann", 4))
		must(t, s.Write(t.Context(), nil, []kept.Row{{Key: purse("ann")}, gold("bob", 1)}))
		check(kept.Row{Key: purse("ann")}, gold("bob", 1), empty)
		must(t, s.Close())
		s = open(t, url)
		check(kept.Row{Key: purse("ann")}, gold("bob", 1), empty)
	})
}

func TestKeysThatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		for _, k := range []kept.Key{{}, {Class: "Purse", Of: "ann"}, purse(""), purse("a\x00b"),
			purse("a\xffb"), purse(strings.Repeat("x", 256)), {Class: "Purse", Scope: 4, Of: "ann"},
			{Scope: kept.Account, Of: "ann"}} {
			if err := s.Write(t.Context(), nil, []kept.Row{gold("ann", 1), {Key: k,
				Data: []byte{1}}}); err == nil {
				t.Errorf("%q was written", k)
			}
			if _, err := s.Load(t.Context(), []kept.Key{k}); err == nil {
				t.Errorf("%q was loaded", k)
			}
		}
		rows, err := s.Load(t.Context(), []kept.Key{purse("ann")})
		must(t, err)
		if rows[0].Data != nil {
			t.Error("a row was written beside one that cannot be")
		}
	})
}

func TestSchemas(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Schema(t.Context(), 1<<63+7, "gold int\n"))
		must(t, s.Schema(t.Context(), 1<<63+7, "gold int\n"))
		if err := s.Schema(t.Context(), 1<<63+7, "another"); !errors.Is(err, kept.ErrOther) {
			t.Errorf("another schema of the same number: %v", err)
		}
		got, err := s.Schemas(t.Context())
		must(t, err)
		if len(got) != 1 || got[1<<63+7] != "gold int\n" {
			t.Errorf("schemas are %v", got)
		}
	})
}

func TestRequestIsDoneOnce(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 10)}))
		name := kept.Name{World: 1 << 63, Tick: 5, By: 1<<40 + 1, Ordinal: 2}
		for i := range 3 {
			answer, again, err := s.Do(t.Context(), name, nil, trade("ann", "bob", 4))
			must(t, err)
			if string(answer) != "6 4" || again != (i > 0) {
				t.Errorf("asked for the %d. time: %q, again %v", i+1, answer, again)
			}
			if i == 1 {
				must(t, s.Close())
				s = open(t, url)
			}
		}
		name.Ordinal++
		if answer, again, err := s.Do(t.Context(), name, nil, func(kept.Tx) ([]byte, error) {
			return nil, nil
		}); err != nil || again || answer == nil || len(answer) != 0 {
			t.Errorf("nothing as an answer: %v %v %v", answer, again, err)
		}
		if answer, again, err := s.Do(t.Context(), name, nil, nil); err != nil || !again ||
			answer == nil {
			t.Errorf("nothing as an answer again: %v %v %v", answer, again, err)
		}
	})
}

func TestRequestThatFailsLeavesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 10)}))
		name := kept.Name{World: 1, Tick: 1}
		broke := errors.New("broke")
		for _, f := range []func(tx kept.Tx) ([]byte, error){
			func(tx kept.Tx) ([]byte, error) {
				return nil, errors.Join(broke, tx.Put(gold("ann", 1)), tx.Put(gold("cid", 1)))
			},
			func(tx kept.Tx) ([]byte, error) {
				_, _, err := tx.Get(kept.Key{})
				return nil, errors.Join(broke, err)
			},
		} {
			if _, _, err := s.Do(t.Context(), name, nil, f); !errors.Is(err, broke) {
				t.Errorf("error %v", err)
			}
		}
		_, again, err := s.Do(t.Context(), name, nil, func(tx kept.Tx) ([]byte, error) {
			r, found, err := tx.Get(purse("cid"))
			if found || err != nil {
				t.Errorf("%v is there: %v", r, err)
			}
			a, found, err := tx.Get(purse("ann"))
			if !found || in(a) != 10 {
				t.Errorf("ann has %v", a)
			}
			return nil, err
		})
		if again || err != nil {
			t.Errorf("again %v, %v", again, err)
		}
		st, err := s.Status(t.Context())
		must(t, err)
		if st.Rows != 1 || st.Answers != 1 {
			t.Errorf("there are %d rows and %d answers", st.Rows, st.Answers)
		}
	})
}

func TestFences(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		old, late := open(t, url), open(t, url)
		first, err := old.Claim(t.Context(), "game", "one")
		must(t, err)
		must(t, old.Write(t.Context(), []kept.Fence{first}, []kept.Row{gold("ann", 1)}))
		second, err := late.Claim(t.Context(), "game", "two")
		must(t, err)
		if second.Epoch <= first.Epoch {
			t.Fatalf("epochs %d, %d", first.Epoch, second.Epoch)
		}
		ann := kept.Fence{Subject: "character/ann", Epoch: 100} // a number that others have counted
		fences := []kept.Fence{ann, second}
		must(t, late.Write(t.Context(), fences, []kept.Row{gold("ann", 2)}))
		refused := func(fences ...kept.Fence) {
			t.Helper()
			err := old.Write(t.Context(), fences, []kept.Row{gold("ann", 3)})
			var e *kept.FencedError
			if !errors.Is(err, kept.ErrFenced) || !errors.As(err, &e) ||
				e.Fence != fences[len(fences)-1] {
				t.Errorf("a late writer: %v", err)
			}
			_, _, err = old.Do(t.Context(), kept.Name{Tick: 9}, fences, trade("ann", "bob", 1))
			if !errors.Is(err, kept.ErrFenced) {
				t.Errorf("a late request: %v", err)
			}
		}
		refused(first)
		refused(ann, first)
		refused(second, kept.Fence{Subject: "character/ann", Epoch: 99})
		rows, err := late.Load(t.Context(), []kept.Key{purse("ann")})
		must(t, err)
		if in(rows[0]) != 2 {
			t.Errorf("ann has %d", in(rows[0]))
		}
		// An answer is there for whoever asks again.
		_, _, err = late.Do(t.Context(), kept.Name{Tick: 1}, fences, trade("ann", "bob", 1))
		must(t, err)
		if _, again, err := old.Do(t.Context(), kept.Name{Tick: 1}, []kept.Fence{first},
			nil); err != nil || !again {
			t.Errorf("asked again: %v, %v", again, err)
		}
	})
}

// TestTradesOfMany has several programs trade at once among few accounts, some of which have no row
// yet, and write at once.
func TestTradesOfMany(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		const programs, trades, people = 4, 12, 5
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("p0", 1000)}))
		var all sync.WaitGroup
		for p := range programs {
			mine := open(t, url)
			rnd := rand.New(rand.NewPCG(1, uint64(p)))
			all.Go(func() {
				for i := range trades {
					name := kept.Name{World: uint64(i % 3), Tick: 1, Ordinal: uint16(p*trades + i)}
					from, to := rnd.IntN(people), rnd.IntN(people)
					if _, _, err := mine.Do(t.Context(), name, nil, trade(fmt.Sprint("p", from),
						fmt.Sprint("p", to), uint64(rnd.IntN(40)))); err != nil {
						t.Errorf("program %d, trade %d: %v", p, i, err)
					}
					if err := mine.Write(t.Context(), nil, []kept.Row{gold(fmt.Sprint("q", to), 1),
						gold(fmt.Sprint("q", from), 2)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		var keys []kept.Key
		for i := range people {
			keys = append(keys, purse(fmt.Sprint("p", i)))
		}
		rows, err := s.Load(t.Context(), keys)
		must(t, err)
		sum := uint64(0)
		for _, r := range rows {
			sum += in(r)
		}
		if sum != 1000 {
			t.Errorf("there are %d pieces of gold", sum)
		}
		st, err := s.Status(t.Context())
		must(t, err)
		if st.Answers != programs*trades {
			t.Errorf("%d answers", st.Answers)
		}
	})
}

// TestSameRequestAtOnce: of several that do the same request at once one does it.
func TestSameRequestAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 10)}))
		var all sync.WaitGroup
		var mu sync.Mutex
		done := 0
		for range 6 {
			all.Go(func() {
				answer, again, err := s.Do(t.Context(), kept.Name{Tick: 1}, nil, trade("ann",
					"bob", 4))
				mu.Lock()
				defer mu.Unlock()
				if err != nil || string(answer) != "6 4" {
					t.Errorf("%q, %v", answer, err)
				}
				if !again {
					done++
				}
			})
		}
		all.Wait()
		if done != 1 {
			t.Errorf("it was done %d times", done)
		}
	})
}

func TestCancelled(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := s.Do(ctx, kept.Name{Tick: 1}, nil, func(tx kept.Tx) ([]byte, error) {
			err := tx.Put(gold("ann", 1))
			cancel()
			return nil, err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		rows, err := s.Load(t.Context(), []kept.Key{purse("ann")})
		must(t, err)
		if rows[0].Data != nil {
			t.Error("something was written")
		}
	})
}

var _ kept.Store = (*store.Store)(nil)
