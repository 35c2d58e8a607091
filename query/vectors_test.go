package query

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// vectors are what docs/protocol.md prints for those who write a second implementation.
func vectors() string {
	var out strings.Builder
	say := func(name string, b []byte) { fmt.Fprintf(&out, "%s %x\n", name, b) }
	const nonce = 0x0102030405060708
	var c Cookie
	for i := range c {
		c[i] = 0xa0 + byte(i)
	}
	say("ping", Query{Kind: Ping, Nonce: nonce}.Append(nil, Least))
	say("info", Query{Kind: AskInfo, Nonce: nonce, Cookie: c}.Append(nil, 40))
	say("who", Query{Kind: AskWho, Nonce: nonce, Cookie: c, First: 258}.Append(nil, Least))
	say("message", Query{Kind: Message, Nonce: nonce, Cookie: c, Text: []byte("hello")}.Append(nil,
		Least))
	say("own", Query{Kind: Own, Nonce: nonce, Text: []byte("score")}.Append(nil, 40))
	say("pong", Answer{Kind: Ping, Nonce: nonce, Cookie: c, Held: 1500 * time.Microsecond}.Append(
		nil, Least))
	say("prove", Answer{Kind: Message, Status: Prove, Nonce: nonce, Cookie: c}.Append(nil, Least))
	i, w := someInfo(), someWho()
	say("info-body", i.AppendInfo(nil))
	say("who-body", w.AppendWho(nil, MaxBody))
	return out.String()
}

// TestVectors: the protocol's specification shows what the code does.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```query-vectors\n")
	block, _, closed := strings.Cut(block, "```")
	if want := vectors(); !ok || !closed || block != want {
		t.Errorf("docs/protocol.md should say\n%s", want)
	}
}
