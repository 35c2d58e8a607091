package entry

import (
	"strconv"
	"syscall/js"
	"time"
)

// A Choice is what somebody wants to play at a relay, as the page's link or form says; see
// web/assets/match.js. What is not said is zero, and below zero where zero means something.
type Choice struct {
	Game, Name string
	// Code is that of the match to join, and Kept what Told was given before the page was loaded
	// anew. Without a Code a match is founded.
	Code, Kept string
	Watch      bool
	Behind     time.Duration
	Style      string // lockstep or rollback
	Depth      int
	Delay      int

	// What a match is like that is founded.
	Level        string
	Data         []byte
	Seed         uint64
	Seats, Start int
	Packets      int
	Wait, Grace  time.Duration
	End          bool
}

func meeting() js.Value { return js.Global().Get("coevalMatch") }

// Meets says whether the page plays in matches at a relay, and not on a server.
func Meets() bool { return meeting().Truthy() }

// Choose waits until somebody has said what to play. Why is what was wrong with the last choice,
// in plain words, or nothing.
func Choose(why string) (c Choice, err error) {
	v, err := await(meeting().Call("choose", why))
	if err != nil {
		return c, err
	}
	number := func(name string, usual int) int {
		if x := v.Get(name); x.Type() == js.TypeNumber {
			return int(min(max(x.Float(), -1), 1e9))
		}
		return usual
	}
	millis := func(name string, usual int) time.Duration {
		return time.Duration(number(name, usual)) * time.Millisecond
	}
	c = Choice{
		Game: text(v, "game"), Name: text(v, "name"), Code: text(v, "code"),
		Kept: text(v, "kept"), Watch: v.Get("watch").Truthy(), Behind: millis("behind", 0),
		Style: text(v, "style"), Depth: number("depth", -1), Delay: number("delay", -1),
		Level: text(v, "level"), Seats: number("seats", 0), Start: number("start", 0),
		Packets: number("packets", 0), Wait: millis("wait", 0), Grace: millis("grace", 0),
		End: v.Get("end").Truthy(),
	}
	c.Seed, _ = strconv.ParseUint(text(v, "seed"), 10, 64) // zero is for one that is drawn
	if d := v.Get("data"); d.InstanceOf(js.Global().Get("Uint8Array")) {
		c.Data = make([]byte, d.Get("length").Int())
		js.CopyBytesToGo(c.Data, d)
	}
	return c, nil
}

// Told gives the page the code of the match, for others, and what it keeps for when it is loaded
// anew.
func Told(code, kept string) { meeting().Call("told", code, kept) }

// Begun tells the page that somebody plays with others.
func Begun() { meeting().Call("begun") }

// Share has the page show how others join, or no longer.
func Share() { meeting().Call("share") }
