package pong

import (
	"os"
	"strings"
	"testing"
)

// TestTheTutorialQuotesTheGame keeps docs/tutorial.md true: what it shows of the game is in the
// game, or in its tests.
func TestTheTutorialQuotesTheGame(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for _, file := range []string{"pong.go", "pong_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines[strings.TrimSpace(line)] = true
		}
	}
	quoted := 0
	for i, block := range strings.Split(string(page), "```go\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "package ") {
			continue // a program of its own, which is compiled when the documents are checked
		}
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			if quoted++; line != "" && !lines[line] {
				t.Errorf("block %d shows a line that the game does not have: %s", i+1, line)
			}
		}
	}
	if quoted < 40 {
		t.Errorf("only %d lines were found", quoted)
	}
}
