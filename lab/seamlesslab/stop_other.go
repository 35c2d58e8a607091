//go:build !unix && !js

package seamlesslab

import (
	"errors"
	"os"
)

// canStop says whether a process can be made to stand still.
const canStop = false

func stop(*os.Process) error   { return errors.ErrUnsupported }
func resume(*os.Process) error { return errors.ErrUnsupported }
