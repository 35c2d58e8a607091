package keep_test

import (
	"errors"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
)

// TestUsedSurvivesCrashes: machines go off at random moments, with disks that fail. Every token
// that was said to be durable, and has not expired, counts as used afterwards; none does that was
// never added; and the time does not go back.
func TestUsedSurvivesCrashes(t *testing.T) {
	acked, failed, rewritten := 0, 0, 0
	for seed := uint64(1); seed <= 300; seed++ {
		r := det.At(seed, 3, 0)
		disk := keeptest.New(seed)
		now, sure := int64(1000), int64(0)
		added, known := map[token.Mark]bool{}, map[token.Mark]bool{}
		for range 4 {
			u, err := keep.ReadUsed(disk)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if u.At < sure {
				t.Fatalf("seed %d: the time is %d and was %d", seed, u.At, sure)
			}
			found := map[token.Mark]bool{}
			for _, m := range u.Marks {
				if found[m] = true; !added[m] {
					t.Fatalf("seed %d: %+v was never added", seed, m)
				}
			}
			for m := range known {
				floor := u.Tokens
				if m.Resumed {
					floor = u.Tickets
				}
				if m.Expires > floor && !found[m] {
					t.Fatalf("seed %d: %+v was durable and is gone", seed, m)
				}
			}
			disk.Faults = keeptest.Faults{Kill: 1 + r.IntN(80), Fail: r.Range(0, 0.1)}
			f := keep.NewUsedFile(disk, u)
			var batch []token.Mark
			for !disk.Killed() {
				now += int64(r.IntN(3))
				for range r.IntN(4) {
					m := token.Mark{Client: r.Uint64() % 9, Expires: now + int64(r.IntN(100)),
						Resumed: r.Chance(0.5)}
					m.ID[0], m.ID[1], m.ID[2] = byte(len(added)), byte(len(added)>>8), byte(seed)
					added[m] = true
					batch = append(batch, m)
				}
				if f.Add(now, batch) != nil {
					failed++
					continue
				}
				for _, m := range batch {
					known[m] = true
				}
				acked, sure, batch = acked+len(batch), now, nil
			}
			rewritten++
			disk = disk.Crash(r.Uint64())
		}
	}
	t.Logf("%d marks durable, %d writes failed, %d crashes", acked, failed, rewritten)
	if acked == 0 || failed == 0 {
		t.Error("nothing was tried")
	}
}

// TestUsedDamaged: a file that is not as it was written is refused with what to do, and left alone.
func TestUsedDamaged(t *testing.T) {
	disk := keeptest.New(1)
	f := keep.NewUsedFile(disk, new(keep.Used))
	for i := range 3 {
		if err := f.Add(5, []token.Mark{{Client: uint64(i), Expires: 100}}); err != nil {
			t.Fatal(err)
		}
	}
	for at := 0; at < disk.Size("used")-2*44; at++ { // after that it is as a crash leaves it
		disk.Damage("used", at)
		if u, err := keep.ReadUsed(disk); !errors.Is(err, keep.ErrDamaged) &&
			!errors.Is(err, keep.ErrNewer) && (err != nil || len(u.Marks) != 3) {
			t.Errorf("byte %d: %v", at, err)
		}
		disk.Damage("used", at)
	}
	if u, err := keep.ReadUsed(disk); err != nil || len(u.Marks) != 3 {
		t.Errorf("%+v, %v", u, err)
	}
}

// FuzzUsed: whatever is in the file, reading it ends well or with an error.
func FuzzUsed(f *testing.F) {
	disk := keeptest.New(1)
	file := keep.NewUsedFile(disk, new(keep.Used))
	for i := range 2 {
		_ = file.Add(5, []token.Mark{{Client: uint64(i), Expires: 100}})
	}
	f.Add([]byte(disk.Files()["used"]))
	f.Fuzz(func(t *testing.T, b []byte) {
		disk := keeptest.New(1)
		disk.Set("used", b)
		u, err := keep.ReadUsed(disk)
		if err != nil {
			return
		}
		if err := keep.NewUsedFile(disk, u).Add(u.At, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := keep.ReadUsed(disk); err != nil {
			t.Fatal(err)
		}
	})
}
