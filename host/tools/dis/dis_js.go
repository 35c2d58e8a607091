package dis

import "github.com/coeval-dev/coeval/host"

// Command is nothing in the browser, where there is no command line.
func Command(*host.Program) {}
