// Command stepvet is the analyser of package stepvet for go vet, which also looks at tests and
// remembers what it has looked at:
//
//	go vet -vettool=$(which stepvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/coeval-dev/coeval/stepvet"
)

func main() { unitchecker.Main(stepvet.Analyzer) }
