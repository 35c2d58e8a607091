// Package peers lets players' machines play one match with each other, without a server. Each holds
// the whole world and sends the others nothing but its player's commands.
//
// # Where it stands
//
//	host, lab        programs and experiments
//	peers            who plays, which turns there are, and when to go on
//	turns            a world that runs by turns: lock step and rollback
//	council          agreement of those who remain
//	conn             connections of two, encrypted
//
// # A match
//
// Somebody founds it, with a [Match] that says what is played and a secret. Whoever has the secret
// can knock at the door of anyone who is in, and is sent the world in the background while all
// others play on. The newcomer catches up by computing faster, is made a member, connects with
// everybody, and then plays from a tick on that all have agreed upon. Somebody who has crashed or
// was cut off comes back in the same way, to the same body, by keys that its machine has kept.
//
// Nobody is the host. Who is in, whose commands count in which ticks and who is gone is decided by
// all who play, by majority: see charter.go for what is decided and package council for how. When
// somebody is silent for [Match].Patience, those who remain agree on the last of its commands that
// any of them has, see that all get those, and go on. A part that is no majority stands still.
// Where all commit first ([Match].Commit) and somebody is there but does not reveal, they agree in
// the same way to repeat its last command for a while: see lapse.go.
//
// # Lock step and rollback
//
// A [Style] says how many ticks may be shown with the commands of others guessed, and after how
// many ticks one's own commands count. Both are each player's own choice and can change at any
// time, because neither changes what happens.
//
// # What is compared
//
// A tick is settled when everybody is known to hold everything up to it. Every so many ticks the
// hash of the settled world is told to all, with a signature under one's own commands. Whose world
// is another takes over that of the majority and says in which field they differed; who has signed
// two different accounts of its commands is put out.
//
// # Driving one
//
//	p, err := peers.New(peers.Options{Game: rules, Link: l, Seed: seed, Match: &peers.Match{},
//		World: first, Input: keys})
//	...
//	err = p.Run(ctx)      // or p.Poll(now) from a loop of one's own
//
// docs/peers.md explains it at more length.
package peers
