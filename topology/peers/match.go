package peers

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Match is what all of a match must agree on. Who founds one says it; who joins is told.
type Match struct {
	// Game is the name of the rules, and Rules their digest: who has others cannot take part.
	Game  string
	Rules uint64
	// Level names where it is played, and Data is what a level of one's own is made of.
	Level string
	Data  []byte
	// Seed is what the world draws its random numbers from.
	Seed uint64
	// Seats is how many can play, up to MaxSeats. Default: 8.
	Seats int
	// Start is how many must be there before it begins. Default: 1.
	Start int
	// Patience is for how long somebody may be silent before the others go on without. Default: 2
	// s.
	Patience time.Duration
	// Grace is for how long the body of someone who is gone is kept. Default: 60 s.
	Grace time.Duration
	// Every is how many ticks apart worlds are compared. Default: as many as there are in a second.
	Every int
	// Alone says that of two, each goes on alone when the other is gone, rather than wait.
	Alone bool
	// End says that a match whose worlds have come apart is over, rather than repaired.
	End bool
	// Commit has everybody commit to a command, by a digest, before anybody reveals one for the
	// same tick: nobody can wait to see what the others do. It is for lock step, and delays
	// commands by a round trip more.
	Commit bool
	// Lapse is for how long, with Commit, the others wait for somebody who is there and does not
	// commit, or does not reveal: then the player's last command is repeated for some ticks. Where
	// four round trips and six packets take longer they wait for those, up to three quarters of
	// Patience. Default: 500 ms, or half of Patience.
	Lapse time.Duration
	// Lapses is how many times in a minute that may happen to one; who lapses once more is put
	// out. Default: 4. Below zero, nobody lapses, and who holds everybody up is put out.
	Lapses int
	// Doom is how DOOM did it: what is lost is sent again when it is asked for, and no sooner.
	Doom bool
}

// MaxSeats is how many can play in one match.
const MaxSeats = 16

// The most bytes of a level's own data, and of names.
const (
	maxData = 16 << 20
	maxName = 64
)

const matchVersion = 2

func (m *Match) fill(g *world.Game) error {
	m.Game, m.Rules = g.Name(), g.Hash()
	set(&m.Seats, 8)
	set(&m.Start, 1)
	set(&m.Every, g.Rate())
	set(&m.Patience, 2*time.Second)
	set(&m.Grace, time.Minute)
	set(&m.Lapse, min(second/2, m.Patience/2))
	set(&m.Lapses, 4)
	return m.check()
}

func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// check says what is wrong with a match.
func (m *Match) check() error {
	switch {
	case m.Seats < 1 || m.Seats > MaxSeats:
		return fmt.Errorf("peers: %d seats; choose 1 to %d", m.Seats, MaxSeats)
	case m.Start < 1 || m.Start > m.Seats:
		return fmt.Errorf("peers: a match of %d seats cannot begin with %d players", m.Seats,
			m.Start)
	case m.Every < 4 || m.Every > 240:
		return fmt.Errorf("peers: worlds compared every %d ticks; choose 4 to 240", m.Every)
	case m.Patience < 250*time.Millisecond || m.Patience > time.Minute:
		return fmt.Errorf("peers: a patience of %v; choose 250 ms to a minute", m.Patience)
	case m.Grace < 0 || m.Grace > time.Hour:
		return fmt.Errorf("peers: a grace of %v; choose up to an hour", m.Grace)
	case m.Lapse < 100*time.Millisecond || m.Lapse > m.Patience:
		return fmt.Errorf("peers: a lapse after %v; choose 100 ms to the patience of %v", m.Lapse,
			m.Patience)
	case m.Lapses < -1 || m.Lapses > 15:
		return fmt.Errorf("peers: %d lapses in a minute; choose up to 15, or -1", m.Lapses)
	case m.Commit && m.Doom:
		return errors.New("peers: DOOM's way has no commitments")
	case len(m.Data) > maxData:
		return fmt.Errorf("peers: a level of %d bytes; at most %d can be sent", len(m.Data),
			maxData)
	}
	return nil
}

func (m *Match) fields(c *bits.Cursor) {
	version := uint8(matchVersion)
	c.U8(&version)
	c.Check(version == matchVersion)
	c.Text8(&m.Game, 255)
	c.U64(&m.Rules)
	c.Text8(&m.Level, 255)
	blob(c, &m.Data, maxData)
	c.U64(&m.Seed)
	small(c, &m.Seats)
	small(c, &m.Start)
	millis(c, &m.Patience)
	millis(c, &m.Grace)
	small(c, &m.Every)
	c.Bool(&m.Alone)
	c.Bool(&m.End)
	c.Bool(&m.Doom)
	c.Bool(&m.Commit)
	millis(c, &m.Lapse)
	lapses := uint8(m.Lapses)
	c.U8(&lapses)
	m.Lapses = int(int8(lapses))
	if c.Reading() && c.OK() {
		c.Check(m.check() == nil)
	}
}

func small(c *bits.Cursor, v *int) {
	b := uint8(*v)
	c.U8(&b)
	*v = int(b)
}

func millis(c *bits.Cursor, v *time.Duration) {
	ms := uint32(*v / time.Millisecond)
	c.U32(&ms)
	*v = time.Duration(ms) * time.Millisecond
}

func blob(c *bits.Cursor, v *[]byte, most int) {
	n := uint64(len(*v))
	c.Uvarint(&n, uint64(most))
	if c.OK() {
		c.Bytes(v, int(n))
	}
}

func tick(c *bits.Cursor, t *world.Tick) {
	n := uint64(*t)
	c.U64(&n)
	*t = world.Tick(n)
}

// digest names a match: what is signed in it counts in no other.
func (m *Match) digest(secret *[32]byte) [32]byte {
	c := bits.CursorTo(nil)
	m.fields(&c)
	h := sha256.New()
	h.Write([]byte("coeval match"))
	h.Write(secret[:])
	h.Write(c.Data())
	return [32]byte(h.Sum(nil))
}

// ErrOther says that somebody plays something else.
var ErrOther = errors.New("peers: another game, or another version of it")

// fits says whether a game is the one that is played.
func (m *Match) fits(g *world.Game) error {
	if m.Game != g.Name() {
		return fmt.Errorf("%w: they play %q, this is %q", ErrOther, m.Game, g.Name())
	}
	if m.Rules != g.Hash() {
		return fmt.Errorf("%w: the rules of %q are %016x there and %016x here; "+
			"everybody needs the same program", ErrOther, m.Game, m.Rules, g.Hash())
	}
	return nil
}
