//go:build !js

package host

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/host/internal/operators"
	"github.com/coeval-dev/coeval/host/internal/uploads"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// MirrorOptions are what a mirror is made from. Key has no default; either Found is set, or Join
// names mirrors. Flags of the command have the same names.
type MirrorOptions struct {
	// Found founds a game. Otherwise the game of one of the mirrors in Join is joined, which are
	// named by what they have as Address.
	Found bool
	Join  []string
	// Witness only votes: for a third machine beside two mirrors. Of Keep it has a Dir, if any.
	Witness bool
	// Key is what all mirrors of a game share. Who has it may join.
	Key token.Key

	// Listen is the UDP address for players, default ":4000", and Mirrors that for other mirrors,
	// default ":4100". Port 0 is any that is free.
	Listen, Mirrors string
	// Address is where other mirrors reach this one, and Public where players do, where the sockets
	// do not know.
	Address, Public string
	// Multicast is an address of IP multicast, such as 239.1.2.3:4200, by which mirrors at one site
	// send to each other, and Interface the network interface for it. Those that it does not reach
	// are sent to one by one. Default: none.
	Multicast, Interface string
	// Name is what people call the mirror, such as a city. Default: its address.
	Name string
	// HTTP is where health, metrics, status and tokens are asked for. Default: as Listen, over TCP.
	// "none" is no HTTP at all. With Open anyone is let in who asks at /token.
	HTTP string
	Open bool
	// Web is how all that is HTTP is answered. The fingerprint of a certificate that is made is
	// logged.
	Web WebOptions
	// PerAddress is how many may be at this mirror from one address, or one network (/64) of IPv6.
	// Default: a quarter of Players, and at least 4. Below zero there is no limit.
	PerAddress int

	// Level is what the world starts from, of a mirror that founds a game. Default: the title's
	// first.
	Level game.Level
	// Players is how many may play on all mirrors together, the same at each, and Spectators how
	// many may watch at this one. Defaults: 64 and 16.
	Players, Spectators int
	// Snapshots is how many a player gets in a second, default 30, and Workers over how many cores
	// the making of them is spread, default all.
	Snapshots, Workers int

	// Timeline is how mirrors are kept consistent, the same at all; see kinds.Names. Default:
	// auto. Delays are those of its copies of the world.
	Timeline string
	Delays   kinds.Delays
	// Repair is what auto and trailing do about commands of other mirrors that were late. Default:
	// the world that players are shown is taken back to the command's own tick at once.
	Repair kinds.Repair
	// Margins say how far copies of the world may differ before that is repaired; see
	// game.Title.MarginsWith. Default, if nil: those of the title's hints.
	Margins []timeline.Margin
	// Knobs are what is set of the mirror, its clients and the title, as lab tune finds it and a
	// file of package knob/settings has it. They go before what else says the same; all mirrors
	// must have the same.
	Knobs knob.Values
	// Patience is how long a mirror tries to join before it gives up. Default: 10 s. Below zero, it
	// never does.
	Patience time.Duration

	// Keep is what survives a lost connection, and the death of all mirrors.
	Keep MirrorKeep
	// Store is where what outlives matches is kept, the same for all mirrors: whichever leads
	// writes; see package kept. Default: in its memory, which is for trying out alone.
	Store kept.Store
	// RecordOptions say what is recorded.
	RecordOptions
	// Log is told what happens. Default: nobody is.
	Log *slog.Logger
}

// MirrorUpgrade says whose game a mirror takes over while it is played, to found a new group with
// it; see docs/upgrade.md. If it cannot, Mirror returns an error and the others play on.
type MirrorUpgrade struct {
	// Servers are where the mirrors that run answer operators, such as https://192.0.2.7:4900. Name
	// all of them. TokenFile is a file with an operator's token, and Trust the fingerprint or file
	// of their certificate, where nobody has signed it.
	Servers          []string
	TokenFile, Trust string
	// Try only tries whether this program could go on with the game.
	Try bool
}

// MirrorKeep says what a mirror keeps. If each has a folder of its own, the game survives the death
// of all of them: those that come back go on with the latest world that they have, once most are
// back. A mirror whose folder has a game founds none.
type MirrorKeep struct {
	KeepOptions
	// FoundAnew goes on alone with what the folder has, as a new group, without Found or Join: for
	// when too few come back. What only the others' folders have is lost.
	FoundAnew bool
	// Seat is how long a player is kept whose connection was lost. Default: one minute.
	Seat time.Duration
	// Upgrade takes over the game of mirrors that run, instead of Found and Join, with a Dir of its
	// own or without. The world stands still for UpgradeWithin at most, or the others go on.
	Upgrade MirrorUpgrade
}

// Mirror runs one of several servers that stay one game, until the context ends. Its players are
// moved to the others before it returns.
func Mirror(ctx context.Context, t *game.Title, o MirrorOptions) error {
	kept, err := keeping.Parse(o.Keep.Dir, cmp.Or(o.Keep.Flush, "1s"),
		cmp.Or(o.Keep.Every, 10*time.Second))
	if err != nil {
		return err
	}
	kept.History = o.Keep.History
	return mirrors.Run(ctx, mirrors.Options{
		Keep: kept,
		Mirror: mirror.Options{
			Server: server.Options{
				Title: t, Level: o.Level, Players: o.Players, Spectators: o.Spectators,
				SnapshotRate: o.Snapshots, Workers: o.Workers, KeepSeat: o.Keep.Seat,
				Limits: server.Limits{PerAddress: o.PerAddress},
			},
			Keys: []token.Key{o.Key}, Found: o.Found, Name: o.Name,
			Revival:  mirror.Revival{Anew: o.Keep.FoundAnew},
			Timeline: o.Timeline, Delays: o.Delays, Repair: o.Repair, Margins: o.Margins,
		},
		Upgrade: mirrors.UpgradeOptions{
			Access: operators.Access{Servers: o.Keep.Upgrade.Servers,
				TokenFile: o.Keep.Upgrade.TokenFile, Trust: o.Keep.Upgrade.Trust},
			Within: o.Keep.UpgradeWithin, Try: o.Keep.Upgrade.Try},
		Knobs: o.Knobs, Join: o.Join, Witness: o.Witness, Listen: o.Listen, Mirrors: o.Mirrors,
		Multicast: o.Multicast, Interface: o.Interface,
		Address: o.Address, Public: o.Public, HTTP: o.HTTP, Open: o.Open,
		Web: o.Web.inside(), Admin: o.Web.Admin.inside(), Patience: max(o.Patience, 0),
		Queries: o.Web.Queries, Uploads: uploads.Options{Dir: o.Web.Uploads, MostMB: 1024},
		Forever: o.Patience < 0, Record: o.Record, RecordLast: o.RecordLast, Log: o.Log,
		Store: o.Store,
	})
}
