package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/netsim"
)

// Commands explains what Command understands.
const Commands = `preset NAME            change to a preset: perfect lan cable wifi lte transatlantic satellite modem awful
loss 0.1               change one setting both ways; also latency 80ms, jitter normal:5ms,
                       burst 0.01/0.25/0.8, duplicate 1%, reorder 2%/20ms, corrupt 0.1%,
                       rate 1Mbit, queue 64KiB, max 1200
up loss 0.1            the same from clients to server only
down latency 80ms      the same from server to clients only
partition              let nothing through, either way
heal                   let it through again
rebind                 give every client a new port towards the server, as a router does
show                   the settings of both directions
stats                  the counts so far
quit                   end`

// ErrQuit is what Command returns for quit.
var ErrQuit = errors.New("quit")

// Command changes the proxy while it runs, or asks it something. The answer is
// for people.
func (p *Proxy) Command(line string) (string, error) {
	words := strings.Fields(strings.ReplaceAll(line, "=", " "))
	if len(words) == 0 {
		return "", nil
	}
	switch words[0] {
	case "help", "?":
		return Commands, nil
	case "quit", "exit":
		return "", ErrQuit
	case "stats":
		r := p.Report()
		return fmt.Sprintf("%s\nup   %+v\ndown %+v", r.line(Report{}), r.Up, r.Down), nil
	case "show":
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Sprintf("up   %v\ndown %v", p.conditions.Up, p.conditions.Down), nil
	case "partition":
		return p.partition(true), nil
	case "heal":
		return p.partition(false), nil
	case "rebind":
		return p.rebind()
	}
	return p.set(words)
}

// set changes one setting or all.
func (p *Proxy) set(words []string) (string, error) {
	prefix := ""
	if words[0] == "up" || words[0] == "down" {
		prefix = words[0] + "."
		words = words[1:]
	}
	if len(words) != 2 {
		return "", fmt.Errorf(
			"unknown command, write it like preset lte or loss 0.1; help lists all")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conditions
	if err := c.Set(prefix+words[0], words[1]); err != nil {
		return "", err
	}
	p.change(c)
	return fmt.Sprintf("up   %v\ndown %v", c.Up, c.Down), nil
}

// SetConditions changes the network for clients that are there and to come.
func (p *Proxy) SetConditions(c netsim.Conditions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(c)
}

// change puts conditions in force for clients that are there and to come.
func (p *Proxy) change(c netsim.Conditions) {
	p.conditions = c
	for _, k := range p.clients {
		k.paths[up].SetProfile(c.Up)
		k.paths[down].SetProfile(c.Down)
	}
}

func (p *Proxy) partition(cut bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cut != p.cut {
		p.cut = cut
		for _, c := range p.clients {
			for _, path := range c.paths {
				if cut {
					path.Cut()
				} else {
					path.Heal()
				}
			}
		}
	}
	if cut {
		return "partitioned: nothing gets through until heal"
	}
	return "healed"
}

// rebind gives each client another socket towards the server.
func (p *Proxy) rebind() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		old := c.back
		if !p.connect(c) {
			return "", fmt.Errorf("no socket for another port, close some programs")
		}
		old.Close()
	}
	return "rebound " + count(len(p.clients), "client"), nil
}
