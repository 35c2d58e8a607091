package tools

import "github.com/coeval-dev/coeval/host"

// All is empty in the browser, where there is no command line.
var All []host.Command
