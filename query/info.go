package query

import "github.com/coeval-dev/coeval/bits"

// A Mode is what runs, with the numbers that a directory has for them.
type Mode uint8

// Modes.
const (
	Server Mode = iota
	Mirror
	Relay
	modes
)

var modeNames = [modes]string{"server", "mirror", "relay"}

func (m Mode) String() string {
	if m < modes {
		return modeNames[m]
	}
	return "unknown mode"
}

// Limits of what an Info and a Who hold.
const (
	MaxText    = 64 // bytes of a game, a name, a level
	MaxRegion  = 24
	MaxTag     = 24
	MaxTags    = 8
	MaxQueries = 8  // of a game's own
	MaxName    = 32 // of a player
)

// An Info is what a server says of itself.
type Info struct {
	Mode Mode `json:"-"`
	// Protocol is the number of the game, as tokens have it, and Version the hash of its
	// declarations, as a directory lists it. Both are zero of a relay, which has no game.
	Protocol uint64   `json:"-"`
	Version  uint64   `json:"-"`
	Game     string   `json:"game"`
	Level    string   `json:"level,omitempty"`
	Name     string   `json:"name"`
	Region   string   `json:"region,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Players  uint16   `json:"players"`
	Capacity uint16   `json:"capacity"`
	// Open says that anyone gets a token at the server itself, over HTTP.
	Open bool `json:"open"`
	// HTTP is the port where it answers over HTTP, or zero; Secure that it is HTTPS.
	HTTP   uint16 `json:"http,omitempty"`
	Secure bool   `json:"secure,omitempty"`
	// Paused says that the game stands still, and Draining that nobody new is let in.
	Paused   bool `json:"paused,omitempty"`
	Draining bool `json:"draining,omitempty"`
	// Places is how many servers the group has, itself included: 1 of a server that stands alone.
	Places uint8 `json:"places"`
	// Answers are the kinds that the server answers, and Own the names of the game's own queries.
	Answers Kinds    `json:"answers"`
	Own     []string `json:"own,omitempty"`
}

// Bits of an Info's flags.
const (
	flagOpen = 1 << iota
	flagSecure
	flagPaused
	flagDraining
	flagsUsed = 1<<iota - 1
)

func (i *Info) flags(b *bits.Cursor) {
	f := byte(0)
	each := [...]*bool{&i.Open, &i.Secure, &i.Paused, &i.Draining}
	for n, v := range each {
		if *v {
			f |= 1 << n
		}
	}
	b.U8(&f)
	b.Check(f <= flagsUsed)
	for n, v := range each {
		*v = f>>n&1 == 1
	}
}

func (i *Info) fields(b *bits.Cursor) {
	b.U8((*byte)(&i.Mode))
	b.Check(i.Mode < modes)
	i.flags(b)
	b.U8((*byte)(&i.Answers))
	b.Check(i.Answers&^AllKinds == 0)
	b.U8(&i.Places)
	b.U64(&i.Protocol)
	b.U64(&i.Version)
	b.U16(&i.Players)
	b.U16(&i.Capacity)
	b.U16(&i.HTTP)
	text(b, &i.Game, MaxText)
	text(b, &i.Level, MaxText)
	text(b, &i.Name, MaxText)
	text(b, &i.Region, MaxRegion)
	texts(b, &i.Tags, MaxTags, MaxTag)
	texts(b, &i.Own, MaxQueries, MaxOwn)
}

// text is one that is cleaned when it is written, and refused when it is not clean.
func text(b *bits.Cursor, v *string, most int) {
	if b.Reading() {
		b.Text8(v, most)
		b.Check(clean([]byte(*v)))
		return
	}
	s := Clean(*v, most)
	b.Text8(&s, most)
}

func texts(b *bits.Cursor, v *[]string, count, most int) {
	n := byte(min(len(*v), count))
	b.U8(&n)
	if b.Check(int(n) <= count); !b.OK() {
		return
	}
	if b.Reading() && n > 0 {
		*v = make([]string, n)
	}
	for j := range int(n) {
		text(b, &(*v)[j], most)
	}
}

// AppendInfo writes the body of an answer. Texts that are too long are cut, and lists too.
func (i *Info) AppendInfo(to []byte) []byte {
	b := bits.CursorTo(to)
	i.fields(&b)
	return b.Data()
}

// ParseInfo reads the body of an answer.
func ParseInfo(body []byte) (i Info, ok bool) {
	b := bits.CursorOver(body)
	i.fields(&b)
	return i, b.Done()
}
