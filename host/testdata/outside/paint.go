package tanks

import (
	"bytes"
	"errors"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// uploads are what players of this game send to its servers in one piece.
var uploads = []game.Upload{
	{Name: "paint", Most: 64 << 10, Take: check}, {Name: "replay", Most: 2 << 20},
}

// check looks at paint, which a server then keeps.
func check(_ *world.World, _ world.Player, data []byte, _ *world.Inputs) error {
	if !bytes.HasPrefix(data, []byte("paint")) {
		return errors.New("this is no <b>paint</b>")
	}
	return nil
}
