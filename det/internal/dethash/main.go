// Command dethash prints a hash of a million results of each function of package det. Its output
// must be the same on every processor; the package's tests run it on several.
package main

import (
	"os"
	"strconv"

	"github.com/coeval-dev/coeval/det"
)

func main() {
	n := 1_000_000
	if len(os.Args) > 1 {
		var err error
		if n, err = strconv.Atoi(os.Args[1]); err != nil || n < 1 {
			os.Stderr.WriteString("usage: dethash [results per function]\n")
			os.Exit(2)
		}
	}
	for i, s := range subjects {
		var h digest
		g := given{det.At(1, uint64(i), 0)}
		rounds := uint64(n)
		if families[s.name] {
			rounds = (rounds + 3) / 4
		}
		for range rounds {
			s.run(&h, &g)
		}
		os.Stdout.WriteString(s.name + " " + strconv.FormatUint(uint64(h), 16) + "\n")
	}
}
