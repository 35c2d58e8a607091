package quake3

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/entropy"
)

// recordedLengths is the package's Huffman code: for each byte from 0 to 255 the length of its
// code, as a hexadecimal digit. It was made from all bytes that this coding writes for the
// recordings cubes_train and arena_train of package workloads, as Quake III's was made from
// recorded games. A test makes it again.
const recordedLengths = "" +
	"7776677556868888787989999999999999999999999999999999999999999999" +
	"9988888888888888888888888888888888888888888878888888877777777777" +
	"7777777787888888888788888888888888888888888888888888888899999999" +
	"9999999999999999999999999999999999999999999999999999999999888887"

func recorded() (*entropy.Huffman, error) {
	var packed [128]byte
	for i := range min(len(recordedLengths), 2*len(packed)) {
		digit := strings.IndexByte("0123456789abcdef", recordedLengths[i])
		packed[i/2] |= byte(digit) << (i % 2 * 4)
	}
	h, err := entropy.ParseHuffman(packed[:])
	if err != nil {
		return nil, fmt.Errorf("quake3: the built-in code is damaged: %w", err)
	}
	return h, nil
}
