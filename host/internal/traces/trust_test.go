package traces

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/trace"
)

// swollen is a trace behind whose header and first state come states of a mebibyte of nothing each,
// in a few bytes, with checksums that are right.
func swollen(t *testing.T, states int) []byte {
	t.Helper()
	data, _ := recordGame(t, pong.Game, 3, trace.Options{}, nil)
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	state := append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, binary.AppendUvarint(nil, 1<<20)...)
	state = z.EncodeAll(make([]byte, 1<<20), state)
	at := len("coeval trace 2\n")
	sum, table := uint32(0), crc32.MakeTable(crc32.Castagnoli)
	for range 2 { // the header and the first state
		n, k := binary.Uvarint(data[at+1:])
		at += 1 + k + int(n) + 4
		sum = binary.LittleEndian.Uint32(data[at-4:])
	}
	out := data[:at:at]
	for range states {
		block := binary.AppendUvarint([]byte{'S'}, uint64(len(state)))
		block = append(block, state...)
		sum = crc32.Update(sum, table, block)
		out = binary.LittleEndian.AppendUint32(append(out, block...), sum)
	}
	return out
}

// TestTrust: a file that takes more than its size accounts for is refused with what to do, by every
// command that reads one.
func TestTrust(t *testing.T) {
	name := save(t, swollen(t, 40))[0]
	cmd := func() *cobra.Command { return Command(&bundled.Program) }
	for _, args := range [][]string{{"trace", "info", name}, {"trace", "diff", name, name}} {
		expect(t, cmd(), 1, nil, []string{"beyond the limits", "--trust"}, args...)
	}
	expect(t, cmd(), 1, []string{"41"}, []string{"cut off"}, "trace", "info", name,
		"--trust")
	expect(t, cmd(), 1, nil, []string{"no tick in common"}, "trace", "diff", name, name, "--trust")
	// A replay makes a world of each state before it comes to the next, and these are none.
	expect(t, cmd(), 1, nil, []string{"saved world"}, "trace", "replay", name)
	expect(t, DesyncCommand(&bundled.Program), 1, nil, []string{"saved world"}, "desync", name,
		name)
}
