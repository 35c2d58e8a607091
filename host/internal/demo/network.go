//go:build !js

package demo

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
)

// A network is what lies between the players and the server, for the panel to change.
type network struct {
	proxies []*proxy.Proxy
	stream  *stream

	mu         sync.Mutex
	conditions netsim.Conditions
	preset     string // empty for one's own settings
	cut        bool
}

// networkState is what the panel shows. Times are in milliseconds, one way; loss is in percent.
type networkState struct {
	Preset  string  `json:"preset"`
	Latency float64 `json:"latency"`
	Jitter  float64 `json:"jitter"`
	Loss    float64 `json:"loss"`
	Cut     bool    `json:"cut"`
}

// networkWish is what the panel asks for: a preset, or settings, or something that happens once.
type networkWish struct {
	Preset  string   `json:"preset"`
	Latency *float64 `json:"latency"`
	Jitter  *float64 `json:"jitter"`
	Loss    *float64 `json:"loss"`
	Cut     float64  `json:"cut"` // seconds
	Rebind  bool     `json:"rebind"`
}

func (n *network) state() networkState {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &n.conditions.Down
	return networkState{
		Preset: n.preset, Latency: ms(p.Latency), Jitter: ms(p.Jitter.Amount),
		Loss: math.Round(p.MeanLoss()*1e4) / 100, Cut: n.cut}
}

// wish is what asks for the network as it is.
func (n *network) wish() networkWish {
	s := n.state()
	if s.Preset != "" {
		return networkWish{Preset: s.Preset}
	}
	return networkWish{Latency: &s.Latency, Jitter: &s.Jitter, Loss: &s.Loss}
}

// set does what the panel asks for.
func (n *network) set(w *networkWish) error {
	if w.Preset != "" {
		c, err := netsim.Lookup(w.Preset)
		if err != nil {
			return err
		}
		n.use(c, c.Name)
		return nil
	}
	if w.Latency != nil || w.Jitter != nil || w.Loss != nil {
		c, err := n.own(w)
		if err != nil {
			return err
		}
		n.use(c, "")
	}
	if w.Rebind {
		if err := n.each("rebind"); err != nil {
			return err
		}
	}
	if w.Cut != 0 {
		if !(w.Cut > 0 && w.Cut <= 30) {
			return fmt.Errorf("the network can be cut for up to 30 seconds, not %v", w.Cut)
		}
		return n.cutFor(time.Duration(w.Cut * float64(time.Second)))
	}
	return nil
}

// own changes the present conditions by one's own settings.
func (n *network) own(w *networkWish) (netsim.Conditions, error) {
	n.mu.Lock()
	c := n.conditions
	n.mu.Unlock()
	c.Name = "custom"
	within := func(what string, v *float64, most float64) error {
		if v != nil && !(*v >= 0 && *v <= most) {
			return fmt.Errorf("a %s of %v: it must be from 0 to %v", what, *v, most)
		}
		return nil
	}
	err := errors.Join(within("latency in ms", w.Latency, 5000),
		within("jitter in ms", w.Jitter, 2000), within("loss in %", w.Loss, 100))
	if err != nil {
		return c, err
	}
	for _, p := range []*netsim.Profile{&c.Up, &c.Down} {
		if w.Latency != nil {
			p.Latency = time.Duration(*w.Latency * float64(time.Millisecond))
		}
		if w.Jitter != nil {
			if p.Jitter.Amount == 0 || p.Jitter.Recorded != nil {
				p.Jitter = netsim.Jitter{Shape: netsim.Normal}
			}
			p.Jitter.Amount = time.Duration(*w.Jitter * float64(time.Millisecond))
		}
		if w.Loss != nil {
			p.Loss, p.Burst = *w.Loss/100, netsim.Burst{}
		}
	}
	return c, nil
}

// use has every path treat its datagrams so from now on.
func (n *network) use(c netsim.Conditions, preset string) {
	for _, p := range n.proxies {
		p.SetConditions(c)
	}
	n.stream.setConditions(c)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conditions, n.preset = c, preset
}

// each gives every proxy a command.
func (n *network) each(line string) error {
	for _, p := range n.proxies {
		if _, err := p.Command(line); err != nil {
			return err
		}
	}
	return nil
}

// cutFor lets nothing through for a while.
func (n *network) cutFor(d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		return nil
	}
	n.cut = true
	n.stream.setCut(true)
	time.AfterFunc(d, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.cut = false
		n.stream.setCut(false)
		_ = n.each("heal") // it worked before
	})
	return n.each("partition")
}
