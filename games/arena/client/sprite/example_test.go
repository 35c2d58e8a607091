package sprite_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

func ExampleSheet() {
	sheet, where := sprite.Sheet()
	r := where[sprite.Rocket]
	_, _, _, nose := sheet.At(r.Max.X-20, r.Min.Y+sprite.Cell/2).RGBA()
	_, _, _, corner := sheet.At(r.Min.X, r.Min.Y).RGBA()
	fmt.Println("a rocket of", r.Dx(), "by", r.Dy(), "pixels; its nose is there:", nose > 0,
		"and its corner is free:", corner == 0)
	// Output: a rocket of 128 by 128 pixels; its nose is there: true and its corner is free: true
}
