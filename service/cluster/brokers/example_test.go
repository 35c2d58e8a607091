package brokers_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/service/cluster/brokers"
)

// A program that was made without NATS has no driver.
func Example() {
	if brokers.In() == nil {
		fmt.Println("import service/cluster/use to have brokers")
	}
	// Output: import service/cluster/use to have brokers
}
