package conn

import "fmt"

// Reason says why a connection was refused or ended. Those below ReasonGame are
// the protocol's; a game may use the rest as it likes.
type Reason uint8

// Why a server refuses, and why a connection ends.
const (
	ReasonNone Reason = iota
	// ReasonFull: the server has as many clients as it takes.
	ReasonFull
	// ReasonExpired: the token is out of date; ask the issuer for a new one.
	ReasonExpired
	// ReasonWrongGame: token, client and server are not of one game.
	ReasonWrongGame
	// ReasonWrongVersion: the client's version of the game is not the server's.
	ReasonWrongVersion
	// ReasonBanned: the server's Admit does not want this player.
	ReasonBanned
	// ReasonClosing: the server is about to stop.
	ReasonClosing
	// ReasonTokenUsed: the token has let someone in here already.
	ReasonTokenUsed
	// ReasonWrongServer: the token names other servers.
	ReasonWrongServer
	// ReasonBadToken: the server cannot read the token; it was sealed with another key.
	ReasonBadToken
	// ReasonTimeout: nothing was heard for too long.
	ReasonTimeout
	// ReasonLeft: the peer closed the connection in good order.
	ReasonLeft
	// ReasonReplaced: the same player has connected anew.
	ReasonReplaced
	// ReasonViolation: the peer broke the protocol.
	ReasonViolation
	// ReasonNoAcks: the peer talks but has acknowledged nothing for twice the timeout.
	ReasonNoAcks
	// ReasonWornOut: the keys have sealed as many packets as they safely can.
	ReasonWornOut
	// ReasonCrowded: too many are connected from the same address.
	ReasonCrowded
	// ReasonUnready: the server cannot write down just now that the token was used.
	ReasonUnready
	// ReasonGame is the first that games may use.
	ReasonGame Reason = 64
)

var reasonNames = [...]string{
	"none", "server full", "token expired", "wrong game", "wrong version", "banned",
	"server closing",
	"token already used", "token for another server", "token unreadable", "timed out", "left",
	"replaced",
	"protocol violation", "never acknowledges", "keys worn out",
	"too many from one address", "server not ready",
}

func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	if r >= ReasonGame {
		return fmt.Sprintf("game reason %d", uint8(r))
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Advice says in a sentence what a user can do about a reason; games show it to
// players. It is empty where there is nothing to do.
func (r Reason) Advice() string { return advice[r] }

var advice = map[Reason]string{
	ReasonFull:         "try again later, or another server",
	ReasonUnready:      "try again later with the same token, or another server",
	ReasonExpired:      "ask for a new token, or return with the resumption ticket",
	ReasonTokenUsed:    "ask for a new token, or return with the resumption ticket",
	ReasonWrongGame:    "use a token and a server of the same game",
	ReasonWrongVersion: "update the game",
	ReasonClosing:      "wait until the server is back, or try another",
	ReasonWrongServer: "use the token at a server that it names, and tell the server its public " +
		"addresses",
	ReasonBadToken: "give the issuer of tokens and the server the same key",
	ReasonTimeout:  "check the address, the firewall and the network",
	ReasonCrowded:  "leave with another player of the same address, or ask the server's operator",
	ReasonWornOut:  "connect again with the resumption ticket",
}
