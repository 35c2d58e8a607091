package bandwidthlab_test

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

// What the paper says of Quake with 32 players: one server, or four mirrors.
func ExampleVariables_Paper() {
	quake := bandwidthlab.PaperVariables
	fmt.Printf("a server carries %.1f Mbit/s\n",
		quake.Paper(bandwidthlab.ClientServer, 32, 1).TotalServer/1000)
	fmt.Printf("a mirror carries %.1f Mbit/s\n",
		quake.Paper(bandwidthlab.Mirrored, 32, 4).TotalServer/1000)
	// Output:
	// a server carries 5.7 Mbit/s
	// a mirror carries 1.7 Mbit/s
}

// Where to put two mirrors for players in four cities.
func ExampleDelays_Medoids() {
	d, err := bandwidthlab.ReadDelays(strings.NewReader(`from,London,Paris,Tokyo,Osaka
London,0,8,230,235
Paris,8,0,235,240
Tokyo,230,235,0,9
Osaka,235,240,9,0
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	everywhere := []int{0, 1, 2, 3}
	for _, m := range d.Medoids(everywhere, everywhere, 2) {
		fmt.Println(d.Places[m])
	}
	// Output:
	// London
	// Tokyo
}
