package server

import (
	"cmp"
	"time"
)

// Limits are what a server takes from one client. Zeros mean what is written beside them; an honest
// client meets none of these.
type Limits struct {
	// Ahead is how far in the future a command may lie. Default: one second.
	Ahead time.Duration
	// Late is by how much a command may be late for its edges still to count, as part of a later
	// one. Default: 250 ms. Below zero, not at all.
	Late time.Duration
	// Rewind is how far back shots are judged by what the shooter saw, at most. Default: as far as
	// the game remembers. Below zero, they are judged by the present.
	Rewind time.Duration
	// Interpolate is how long after it could be known clients show others, where they were told to
	// (predict.PlayoutOptions.Delay): so much more their sight may lie back. Default: as long as
	// their networks ask for.
	Interpolate time.Duration
	// Commands is how many packets of commands there may be in a second. Default: three times the
	// tick rate.
	Commands int
	// Requests is how many control messages there may be in a second, in bursts of four times as
	// many. Default: 5.
	Requests int
	// Chat is how many lines there may be in a minute, in bursts of a quarter of that. Default: 20.
	Chat int
	// Uploads is how many bytes one person may send in a minute in one piece each, of the kinds
	// that the title's Uploads name, and the largest of those at once. Default: 1 MiB. Below zero,
	// none.
	Uploads int
	// UploadsAtOnce is how many bytes may be on their way from all clients together: so much memory
	// may be taken by what is not complete. Default: 64 MiB.
	UploadsAtOnce int
	// Offences is how many points of misbehaviour a client may have before it is dropped; a tenth
	// of them is forgiven each second. Whatever cannot be read costs 10 points, what is merely too
	// much or too soon 1. Default: 200.
	Offences int
	// PerAddress is how many may play or watch from one address, or from one network of IPv6 (a
	// /64). Those of a proxy, of a home or of a party on a local network have one address together.
	// Default: a quarter of Options.Players, and at least 4. Below zero there is no limit, and none
	// for this machine itself.
	PerAddress int
	// Proving is how long someone has who takes up a place of a link, such as a session of a
	// browser, until a connection is open there. Default: 5 s.
	Proving time.Duration
	// Greeting is how long a new connection has to say who it is. Default: 10 s.
	Greeting time.Duration
	// Loading is how long a client may take from being told of a level to being ready for it.
	// Default: 5 min.
	Loading time.Duration
}

func (l *Limits) fill(rate, players int) {
	l.PerAddress = cmp.Or(l.PerAddress, max(players/4, 4))
	orElse(&l.Proving, 5*time.Second)
	orElse(&l.Ahead, time.Second)
	l.Late = cmp.Or(l.Late, 250*time.Millisecond)
	orElse(&l.Commands, 3*rate)
	orElse(&l.Requests, 5)
	orElse(&l.Chat, 20)
	orElse(&l.Offences, 200)
	l.Uploads = cmp.Or(l.Uploads, 1<<20)
	orElse(&l.UploadsAtOnce, 64<<20)
	orElse(&l.Greeting, 10*time.Second)
	orElse(&l.Loading, 5*time.Minute)
}

// orElse replaces zero, and what is below, by a default.
func orElse[T int | time.Duration | float64](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// An Offence is one way in which a client misbehaves.
type Offence uint8

// What a client can do wrong with packets that are perfectly valid.
const (
	// a control message that cannot be read, or does not belong where it came
	BadControl   Offence = iota
	BadState             // a message to package replica that cannot be read
	BadCommand           // commands that cannot be read
	FutureTick           // a command for a tick further ahead than Limits.Ahead
	SecondMind           // another command for a tick than came before
	ManyCommands         // more packets of commands than Limits.Commands
	ManyRequests         // more control messages than Limits.Requests
	ManyLines            // more lines of chat than Limits.Chat
	AgainstRules         // what the game's rules refused
	Offences
)

var offenceNames = [Offences]string{
	"bad_control", "bad_state", "bad_command", "future_tick", "second_mind", "many_commands",
	"many_requests", "many_lines", "against_rules"}

func (o Offence) String() string {
	if o < Offences {
		return offenceNames[o]
	}
	return "unknown"
}

// points is what an offence costs. What the network or a slow clock can cause is cheap.
func (o Offence) points() float64 {
	switch o {
	case BadControl, BadState, BadCommand, SecondMind:
		return 10
	}
	return 1
}

// A bucket lets so many things pass in a second, and some at once.
type bucket struct {
	level float64
	at    time.Duration
	used  bool
}

// pass takes one from a bucket that fills at a rate and holds burst.
func (b *bucket) pass(now time.Duration, rate, burst float64) bool {
	if !b.used {
		b.used, b.level, b.at = true, burst, now
	}
	if d := now - b.at; d > 0 {
		b.level = min(b.level+float64(rate*d.Seconds()), burst)
		b.at = now
	}
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}

// conduct is how a client behaves: how much of each kind it may send by now, and what it did
// wrong. Points are forgiven with time.
type conduct struct {
	commands, requests, reports, lines bucket

	offences [Offences]uint64
	points   float64
	at       time.Duration // when the last were added
}

// add books an offence, and says whether it is enough.
func (c *conduct) add(now time.Duration, o Offence, most int) bool {
	c.offences[o]++
	c.points = max(c.points-float64(float64(most)/10*(now-c.at).Seconds()), 0) + o.points()
	c.at = now
	return c.points > float64(most)
}

// worst is what a client did most of.
func (c *conduct) worst() Offence {
	at := Offence(0)
	for o := range Offences {
		if float64(c.offences[o])*o.points() > float64(c.offences[at])*at.points() {
			at = o
		}
	}
	return at
}
