package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Console runs a proxy with a person, or a script, in front of it: it prints a
// line of statistics at intervals, as text or as JSON, and does what is typed. It
// returns when the context ends, when told to quit, or when the proxy fails. The end
// of the input is not the end of the proxy.
func Console(ctx context.Context, p *Proxy, in io.Reader, out io.Writer, asJSON bool,
	every time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	last := p.Report() // before it runs, or what came first would not be told
	failed := make(chan error, 1)
	go func() { failed <- p.Run(ctx) }()
	typed := make(chan string)
	go func() {
		// It ends with the input, or with the program.
		for lines := bufio.NewScanner(in); lines.Scan(); {
			select {
			case typed <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	if every <= 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case err := <-failed:
			return err
		case <-tick.C:
			r := p.Report()
			// A person is not told that nothing happened; a program wants every line.
			if asJSON {
				printJSON(out, r)
			} else if r.Up.Offered != last.Up.Offered || r.Down.Offered != last.Down.Offered ||
				r.Clients != last.Clients {
				fmt.Fprintln(out, r.line(last))
			}
			last = r
		case line := <-typed:
			answer, err := p.Command(line)
			if errors.Is(err, ErrQuit) {
				cancel()
				return <-failed
			}
			if asJSON {
				reply(out, line, answer, err)
			} else if err != nil {
				fmt.Fprintln(out, "error:", err)
			} else if answer != "" {
				fmt.Fprintln(out, answer)
			}
		}
	}
}

func printJSON(out io.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // plain structs always marshal
	}
	fmt.Fprintln(out, string(b))
}

// reply is the answer to a command for programs.
func reply(out io.Writer, line, answer string, err error) {
	r := struct {
		Command string `json:"command"`
		Answer  string `json:"answer,omitempty"`
		Error   string `json:"error,omitempty"`
	}{Command: line, Answer: answer}
	if err != nil {
		r.Error = err.Error()
	}
	printJSON(out, r)
}
