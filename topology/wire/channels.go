package wire

import "github.com/coeval-dev/coeval/conn"

// The channels of a connection. Both ends have the same list.
const (
	ControlChannel  = 0 // joining, levels, pauses, chat: messages of this package
	StateChannel    = 1 // reliable messages of package replica
	SnapshotChannel = 2 // server to client: packets of package replica
	CommandChannel  = 3 // client to server
)

// wireVersion is what two ends of this package must have in common before a word is said. What the
// games must have in common is told in words; see VersionError.
const Version = 3

// channels lists them. Commands go before everything: they are small, and late ones are worth
// nothing.
func Channels() []conn.Channel {
	return []conn.Channel{
		ControlChannel:  {Mode: conn.Ordered, MaxMessage: MaxControl},
		StateChannel:    {Mode: conn.Ordered, MaxMessage: 64 << 10},
		SnapshotChannel: {Mode: conn.Unreliable},
		CommandChannel:  {Mode: conn.Unreliable, Priority: 1},
	}
}

// Tags of transfers, from server to client.
const (
	TagLevel        = 1 // the data of a level
	TagTables       = 3 // tables that the server has learned
	TagDeclarations = 2 // what the server's game declares, for a client that has another version
)

// Why a connection of this package was refused or ended, beyond what package conn knows.
const (
	// ReasonVersion: the client's game is not declared as the server's is. The client's error says
	// what differs.
	ReasonVersion conn.Reason = conn.ReasonGame + iota
	// ReasonRules: the game's rules do not let this player in, or not any longer. The note says
	// more.
	ReasonRules
	// ReasonHostile: the client sent too much that made no sense.
	ReasonHostile
	// ReasonSilent: the client connected and then said nothing, or never became ready.
	ReasonSilent
	// ReasonSlow: more waits to be sent to the client than its connection carries.
	ReasonSlow
	// ReasonKicked: whoever runs the server does not want this player.
	ReasonKicked
	// ReasonNoSeat: all seats are taken, or kept for players who may come back.
	ReasonNoSeat
	// ReasonData: the client could not use what the server sent.
	ReasonData
	// ReasonMoved: the player goes on at another server. From a server, the note begins with its
	// address, if it is known.
	ReasonMoved
	// ReasonReplaced: another program takes the server's place, at the same address. The client
	// comes back with its ticket at once.
	ReasonReplaced
)

var reasonTexts = map[conn.Reason]string{
	ReasonVersion: "the game has another version than the server",
	ReasonRules:   "not allowed by the game's rules",
	ReasonHostile: "sent too much that made no sense",
	ReasonSilent:  "said nothing for too long",
	ReasonSlow:    "the connection is too slow for this game",
	ReasonKicked:  "removed by whoever runs the server",
	ReasonNoSeat:  "all seats are taken",
	ReasonData:    "the server sent something that cannot be used",
	ReasonMoved:   "the player goes on at another server",

	ReasonReplaced: "the server is being replaced by a newer one",
}

// ReasonText says in words why a connection ended, with advice where there is some. It knows the
// reasons of this package and those of package conn.
func ReasonText(r conn.Reason) string {
	if t, ok := reasonTexts[r]; ok {
		return t
	}
	t := r.String()
	if a := r.Advice(); a != "" {
		t += "; " + a
	}
	return t
}
