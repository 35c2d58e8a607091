// Command predictbench is coeval bench predict for platforms that the whole program is not for,
// such as WebAssembly: it prints the same JSON object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/coeval-dev/coeval/lab/predictlab"
)

func main() {
	r, err := predictlab.Run(context.Background(), predictlab.Options{Rounds: 20})
	if err == nil {
		err = r.Check()
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
