// Package stepvet is a static analyser for the rules of a game: it finds what would make two
// machines that step the same world from the same commands end up with different worlds.
//
// The code of a game runs on the server, on every client that predicts, on every mirror, and again
// after each correction. All of these runs must give the same bits. What breaks that is rarely seen
// on one machine, and once it is seen it is far from its cause: so this looks for the causes.
//
//	game  ──calls──>  world, det, bits
//	  ▲
//	  └── stepvet reads its source; nothing of the toolkit is imported here
//
// # Where it looks
//
// It begins at methods that the toolkit calls: Step(*world.World, ...), Sync(*bits.Sync), and on a
// type with such a Sync also Derive and CopyFrom; and at functions handed to package world that
// take a *world.World, such as those for world.OnStart and world.OnJoin. The two packages are known
// by how their path ends. From there it follows every function that is mentioned, into other
// packages too. A call through an interface is followed to every type in sight that implements it.
// What else the program does, drawing or talking to the network, is not looked at.
//
// The standard library is judged by a table. The packages of the toolkit that rules call (det,
// bits, world, kept and those below) are trusted, and have tests of their own.
//
// # What it finds
//
//   - mapiter: ranging over a map, maps.Keys and the like, unless what comes of it is sorted at
//     once or order makes no difference
//   - clock: time.Now, timers, sleeping
//   - concurrent: goroutines, channels, select, package sync
//   - random: math/rand, crypto/rand, hash/maphash
//   - io: printing, files, the network, the environment, what kind of machine this is
//   - fuse: a product of floats that reaches a sum without being rounded by an explicit conversion,
//     through variables, fields, arguments and results
//   - math: functions of package math that differ between processors
//   - convert: a float that becomes an integer and may not fit
//   - address: unsafe code, pointers as numbers
//   - global: writes to package-level variables
//   - unchecked: calls that cannot be followed; only with the flag -unchecked
//   - allow: a comment that allows something and is wrong or no longer needed
//
// Each message says why, and what to do instead. For products there is an edit that editors can
// apply.
//
// # Saying that you know better
//
// A comment allows a category on its line, or on the line below if it stands alone, or in a whole
// function if it is part of the comment above it. It must give a reason:
//
//	//coeval:allow mapiter -- the loop stops at the only match
//
// # What it cannot see
//
// A function kept in a field or in a variable that is set elsewhere is not followed (-unchecked
// lists such calls), nor are generic interfaces. Order is judged by the shape of a loop. A package
// that implements an interface is seen if it calls the code that uses it, or is imported by it. The
// forced-rollback run and the comparison of hashes are there for the rest.
//
// # Running it
//
// The command coeval vet runs it. Any driver of golang.org/x/tools/go/analysis can as well; the
// program in stepvet/cmd/stepvet is one for go vet:
//
//	go build -o stepvet github.com/coeval-dev/coeval/stepvet/cmd/stepvet
//	go vet -vettool=$PWD/stepvet ./...
package stepvet
