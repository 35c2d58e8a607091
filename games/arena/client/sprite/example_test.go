package sprite_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

func ExamplePixels() {
	pix := sprite.Pixels(sprite.Rocket)
	opacity := func(x, y int) byte { return pix[4*(y*sprite.Cell+x)+3] }
	fmt.Println("a rocket of", sprite.Cell, "by", len(pix)/4/sprite.Cell,
		"pixels; its nose is there:", opacity(sprite.Cell-12, sprite.Cell/2) > 0,
		"and its corner is free:", opacity(0, 0) == 0)
	// Output: a rocket of 80 by 80 pixels; its nose is there: true and its corner is free: true
}
