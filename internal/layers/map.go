package layers

// Map says where each package stands. A package may import what stands on a
// lower row, and on its own row only what its arrows lead to. An entry stands
// for its folder and the folders inside it; they may import one another.
const Map = `
internal/check -> internal/layers   internal/layers     | what builds and tests the project; nothing imports it
cmd/{coeval,coevald} -> games/*   examples -> games/*   games/*    | the bundled programs; programs of one idea; titles
host -> host/internal/page   host/internal/page -> host/internal/cli web   host/internal/cli -> host/internal/titles   host/internal/titles   web   | a program made from a title; how its page is made and reached; its command lines and games; the page that browsers show
lab   stepvet                                           | experiments, benchmarks, reports; a static check of what a game does in Step
service/directory -> service/store service/admin   service/{store,cluster,admin,dis,federation} | finding games, keeping state, joining servers, watching them, speaking with simulators, joining simulations
topology/mirror -> topology/server   topology/gateway -> topology/server topology/seamless   topology/architecture -> topology/server topology/client   topology/peers -> topology/relay   topology/{solo,client,server,relay,seamless} -> topology/drive   topology/drive   | who runs which copy; and the loop by the clock
------------------------------------------------------- | below this line packages are pure
game   keep -> game   topology/wire   topology/ways -> topology/wire    | what a title is; a game on disk; what client and server say to each other; a player's connections
replica   predict -> replica   timeline   trace         | how copies of a world agree
world   interest -> world   reckon -> world   kept -> world   convert -> world   | what a game is made of, and what outlives it
conn   query   route   paths -> conn   crimp -> conn route   council   membership -> crimp council   zone   federation   | a secured connection of two machines; what is asked without one; how datagrams pass between players' machines; a reliable multicast among several; who is one of them; what makes something cross between servers once; what simulations share that know nothing of each other
link   netsim -> link   member                          | carriers of datagrams; a simulated network; the number of a machine in a group
codec                                                   | images of entities as differences from a base
entropy -> bits   bits -> det   det   draw   internal/heap   knob   survey   | what a value costs; arithmetic that is the same everywhere; a frame as a list of calls, and as pixels; a queue by what is due; what can be set; which of several places is the nearest
`

// Impure names the folders below the line that have goroutines, clocks and sockets all the same;
// nothing pure may import them. The interface in link itself is pure, so that a pure package can
// speak of datagrams without compiling a socket.
const Impure = `
link/*         | the carriers themselves
netsim/proxy   | the simulated network applied to real programs
*/*test        | what only tests import, such as netsim/simtest
`

// Dependencies says from where each library may be reached, directly or
// through other packages, so that a program that uses bits or conn compiles
// none of the heavy ones. Tests may use any.
const Dependencies = `
github.com/nats-io             service cmd                           | servers that find each other
modernc.org/sqlite             service cmd                           | what must survive
github.com/jackc/pgx           service cmd                           | the same, in PostgreSQL
database/sql                   service cmd                           | the same
github.com/quic-go             service link/* games/*/client host examples cmd | browsers, by datagrams
github.com/coder/websocket     service link/* games/*/client host examples cmd | browsers, when nothing else passes
github.com/hajimehoshi/ebiten  host/window games/*/client examples cmd | windows on the desktop
golang.org/x/image             host/window games/*/client cmd         | their fonts
gonum.org/v1/plot              lab host cmd                          | reports
github.com/spf13/cobra         host examples cmd                              | command lines
github.com/spf13/pflag         host examples cmd                              | command lines
golang.org/x/term              host examples cmd                              | progress on a terminal
golang.org/x/sys               service link/* netsim/proxy games/*/client lab topology host examples cmd   | batched sockets
golang.org/x/tools             stepvet host cmd                      | analysis of source
golang.org/x/crypto            *                                     | encryption
github.com/klauspost           *                                     | compression, erasure coding
go.uber.org/goleak             */*test */*/*test                     | goroutines left behind
pgregory.net/rapid             */*test */*/*test                     | properties
github.com/google/go-cmp       */*test */*/*test                     | comparison
github.com/chromedp            */*test */*/*test                     | browsers
`
