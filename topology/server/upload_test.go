package server

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// sprays is the yard with things to be sent.
func sprays(took *[]string) *game.Title {
	t := near(100).Clone()
	t.Uploads = []game.Upload{
		{Name: "spray", Most: 40_000,
			Take: func(_ *world.World, from world.Player, data []byte, _ *world.Inputs) error {
				switch {
				case data[0] == 'p':
					panic("a picture that breaks the game")
				case data[0] != 's':
					return errors.New("that is no spray")
				}
				*took = append(*took, fmt.Sprint(from, len(data)))
				return nil
			}},
		{Name: "replay", Most: 300_000},
	}
	return t
}

// until runs until something is so.
func (s *sim) until(most time.Duration, what string, so func() bool) {
	for end := s.net.Now() + most; !so(); s.net.Run(50 * time.Millisecond) {
		if s.net.Now() > end {
			s.fail("it never came to this: %s", what)
			return
		}
	}
}

func sprayed(n int) []byte { return append([]byte{'s'}, bytes.Repeat([]byte("pixel"), n/5)...) }

// TestUploads: what players send arrives whole on bad networks while they play on, is told to the
// game and to whoever runs it, and what is not wanted is refused with a reason.
func TestUploads(t *testing.T) {
	for seed, c := range []netsim.Conditions{netsim.Cable, netsim.WiFi, netsim.LTE} {
		n := netsim.New(netsim.Options{Seed: uint64(seed + 1)})
		var took []string
		var kept []Upload
		refuse := false
		s, err := newSim(n, Options{Title: sprays(&took), Limits: Limits{Uploads: 400_000},
			Rules: Rules{Upload: func(_ *Seat, name string, _ int) error {
				if refuse {
					return errors.New("not now")
				}
				return nil
			}, Uploaded: func(u Upload) error { kept = append(kept, u); return nil }}})
		if err != nil {
			t.Fatal(err)
		}
		a, b := s.join("a", 1, c, client.Options{}), s.join("b", 2, c, client.Options{})
		if !s.playing(20 * time.Second) {
			t.Fatalf("seed %d: not all are playing", seed+1)
		}
		send := func(x *bot, name string, data []byte, want string) {
			t.Helper()
			before := len(x.sent)
			if err := x.Upload(name, data); err != nil {
				t.Fatal(err)
			}
			s.until(time.Minute, name+" is answered", func() bool { return len(x.sent) > before })
			if s.err != nil {
				t.Fatal(s.err)
			}
			got := "<nil>"
			if err := x.sent[before].Err; err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("seed %d: %s: %s, want %s", seed+1, name, got, want)
			}
		}
		replay := make([]byte, 300_000)
		n.Rand().Fill(replay)
		snaps := b.Stats().Snapshots
		send(a, "spray", sprayed(30_000), "<nil>")
		send(a, "replay", replay, "<nil>")
		send(b, "spray", []byte("no picture"), "that is no spray")
		send(b, "spray", []byte("panic"), "the game cannot use this spray")
		refuse = true
		send(b, "spray", sprayed(10), "not now")
		refuse = false
		if err := b.Upload("song", sprayed(9)); err == nil {
			t.Error("what the title does not name is sent")
		}
		if err := b.Upload("spray", sprayed(50_000)); err == nil {
			t.Error("what is too large is sent")
		}
		if len(took) != 1 || took[0] != fmt.Sprint(a.Player(), 30_001) || len(kept) != 2 ||
			!bytes.Equal(kept[1].Data, replay) || kept[1].Seat.Client != 1 {
			t.Errorf("seed %d: the game took %v, and %d were kept", seed+1, took, len(kept))
		}
		if b.Stats().Snapshots == snaps || s.server.reserved != 0 {
			t.Errorf("seed %d: %d bytes are reserved in the end", seed+1, s.server.reserved)
		}
		if st := s.server.Stats(); st.Uploads != 2 || st.UploadsRefused != 3 {
			t.Errorf("seed %d: %d taken, %d refused", seed+1, st.Uploads, st.UploadsRefused)
		}
		s.close()
	}
}

// TestUploadLimits: nobody gets more onto a server than it allows, in a minute, at once, or by
// beginning again and again; what is too slow is given up, and what it reserved is free again.
func TestUploadLimits(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 7})
	var took []string
	s, err := newSim(n, Options{Title: sprays(&took),
		Limits: Limits{Uploads: 60_000, UploadsAtOnce: 300_000},
		Rules:  Rules{Uploaded: func(Upload) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	a, b := s.join("a", 1, netsim.Cable, client.Options{}), s.join("b", 2, netsim.Cable,
		client.Options{})
	if !s.playing(20 * time.Second) {
		t.Fatal("not all are playing")
	}
	replay := make([]byte, 300_000)
	for range 2 {
		if err := a.Upload("replay", replay); err != nil {
			t.Fatal(err)
		}
	}
	n.Run(200 * time.Millisecond)
	if err := b.Upload("spray", sprayed(100)); err != nil {
		t.Fatal(err)
	}
	s.until(time.Minute, "all are answered", func() bool {
		return len(a.sent) == 2 && len(b.sent) == 1
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	t.Log(a.sent, b.sent)
	if a.sent[0].Err != nil || a.sent[1].Err == nil || b.sent[0].Err == nil {
		t.Error("the first is taken, the second is too much of one, b's too much of all")
	}
	// Whoever goes in the middle leaves nothing behind. Six minutes later one may send as much
	// again.
	n.Run(5 * time.Second)
	for _, p := range s.server.order {
		p.seat.uploads.at -= 6 * time.Minute // to play them would take long
	}
	if err := a.Upload("replay", replay); err != nil {
		t.Fatal(err)
	}
	s.until(time.Minute, "it is under way", func() bool { return s.server.reserved > 0 })
	a.Leave()
	s.until(time.Minute, "nothing is reserved", func() bool { return s.server.reserved == 0 })
	if s.err != nil {
		t.Fatal(s.err)
	}
	// A flood of what nobody knows is an offence.
	for range 400 {
		if _, err := b.Conn().SendBulk(99, []byte("x")); err != nil &&
			!errors.Is(err, conn.ErrBacklog) {
			break
		}
		n.Run(20 * time.Millisecond)
	}
	if st := s.server.Stats(); st.Offences[ManyRequests] < 20 || s.server.reserved != 0 {
		t.Errorf("a flood was counted as %v", st.Offences)
	}
}

// TestUploadStalls: what comes no further is given up, and the room that it took is free again.
func TestUploadStalls(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 9})
	var took []string
	s, err := newSim(n, Options{Title: sprays(&took),
		Rules: Rules{Uploaded: func(Upload) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	a := s.join("a", 1, netsim.Cable, client.Options{})
	if !s.playing(20 * time.Second) {
		t.Fatal("not all are playing")
	}
	s.server.order[0].uploading = uploading{kind: s.title.Upload("replay"), size: 1000,
		since: s.server.now}
	s.server.reserved = 1000
	s.until(2*time.Minute, "it is given up", func() bool { return s.server.reserved == 0 })
	if s.err != nil || a.ended != nil {
		t.Fatal(s.err, a.ended)
	}
}

// TestUploadMoves: who goes on at another server in the middle sends it there, and it is taken
// once or twice, but whole.
func TestUploadMoves(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 11})
	var took []string
	var kept []Upload
	g, err := newLeague(n, 2, Options{Title: sprays(&took),
		Rules: Rules{Uploaded: func(u Upload) error { kept = append(kept, u); return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	b := g.joinAs("a", 1, netsim.LTE, g.members[0], client.Options{})
	if !g.playing(20 * time.Second) {
		t.Fatal("not all are playing")
	}
	replay := make([]byte, 300_000)
	n.Rand().Fill(replay)
	if err := b.Upload("replay", replay); err != nil {
		t.Fatal(err)
	}
	for end := n.Now() + 20*time.Second; n.Now() < end; n.Run(20 * time.Millisecond) {
		if _, arrived, size, ok := b.Uploading(); ok && arrived > 0 && arrived < size/2 {
			break
		}
	}
	if len(kept) > 0 {
		t.Fatal("it is there before the player could move")
	}
	g.members[0].server.Move(g.members[0].server.Seat(1), g.members[1].end.PublicAddr())
	for end := n.Now() + time.Minute; len(kept) == 0 && n.Now() < end; {
		n.Run(50 * time.Millisecond)
	}
	if len(kept) == 0 || !bytes.Equal(kept[0].Data, replay) || b.Stats().Moves != 1 {
		t.Errorf("%d are kept, after %d moves", len(kept), b.Stats().Moves)
	}
	if g.err != nil {
		t.Error(g.err)
	}
}
