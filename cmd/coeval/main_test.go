package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestProgram: coeval has every command, every tool and every bundled game.
func TestProgram(t *testing.T) {
	var out, errs bytes.Buffer
	if code := program.Run(context.Background(), []string{"--help"}, &out, &errs); code != 0 ||
		errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for name := range strings.FieldsSeq(`play serve join demo mirror bots token trace desync version
		bench lab codec vet netsim crimp new completion help`) {
		if !strings.Contains(out.String(), "\n  "+name+" ") {
			t.Errorf("there is no %s in\n%s", name, &out)
		}
	}
	for game := range strings.FieldsSeq("arena crowd pong stack") {
		out.Reset()
		if code := program.Run(context.Background(),
			[]string{"play", game, "--headless", "--ticks", "5"}, &out, &errs); code != 0 {
			t.Errorf("%s: exit code %d: %s", game, code, &errs)
		}
	}
}
