package replica

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProtocolVectors: docs/protocol.md has the bytes of a short conversation in each strategy.
func TestProtocolVectors(t *testing.T) {
	page, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(page), "```snapshot-vectors\n")
	want, _, _ := strings.Cut(block, "```")
	if !ok {
		t.Fatal("docs/protocol.md has no snapshot-vectors")
	}
	var got strings.Builder
	for _, strategy := range everyStrategy {
		s := newStall(t, Options{Strategy: strategy}, SenderOptions{})
		for i, x := range []int32{5, 6} {
			id := s.put(0, x)
			s.publish()
			s.see(id)
			s.s.Encode(s.worker, Room{Packet: 1150, Budget: 1150})
			for _, m := range s.s.Messages() {
				fmt.Fprintf(&got, "%v message = %x\n", strategy, m)
			}
			if s.s.Staged() != 1 {
				t.Fatalf("%v: %d packets", strategy, s.s.Staged())
			}
			fmt.Fprintf(&got, "%v %d = %x\n", strategy, x, s.s.Packet(0))
			s.s.Sent(0, uint64(i))
			s.s.Arrived(uint64(i))
		}
	}
	if got.String() != want {
		t.Errorf("docs/protocol.md should have:\n%s", got.String())
	}
}
