package clientserver

import (
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A Word is something that is said to a player.
type Word struct {
	Kind   WordKind
	Player world.Player // who says it, for Chat
	Name   string       // the same, by name
	Text   string
}

// WordKind says what a Word is.
type WordKind uint8

// What is said to players.
const (
	Chat    WordKind = iota + 1 // by another player
	Notice                      // by the server
	Pause                       // the game stands still; Text says who wanted it
	Proceed                     // it goes on
)

// Say sends a line of chat.
func (c *Client) Say(line string) {
	c.say(wire.Message{Kind: wire.Chat, Text: wire.Clip(line, wire.MaxText)})
}

// Rename asks for another name.
func (c *Client) Rename(name string) {
	c.say(wire.Message{Kind: wire.Name, Name: wire.Clip(name, wire.MaxName)})
}

// SetPaused asks for the game to stand still, or to go on.
func (c *Client) SetPaused(on bool) { c.say(wire.Message{Kind: wire.Pause, On: on}) }

// SetSpectating asks to watch in place of playing, or the reverse.
func (c *Client) SetSpectating(on bool) { c.say(wire.Message{Kind: wire.Side, On: on}) }
