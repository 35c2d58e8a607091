package tools

// A program with the tools can be compared with how others make snapshots.
import _ "github.com/coeval-dev/coeval/topology/architecture/all"
