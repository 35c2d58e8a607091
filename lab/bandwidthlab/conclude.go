package bandwidthlab

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/lab"
)

// proofBytes are what package crimp adds to a packet for each further member, so that each can
// check who made it: see crimp.Tags.
const proofBytes = 8

// conclude makes the variables of what was measured, and compares.
func (b *bench) conclude(r *Result) error {
	if err := b.fitLine(r); err != nil {
		return err
	}
	if err := b.fitCommands(r); err != nil {
		return err
	}
	for _, s := range r.Served {
		r.Variables.A += s.Command / float64(len(r.Served))
	}
	r.Variables.B = r.Command.B(1, 2, b.rate)
	r.Variables.C, r.Variables.DE = r.Line.Intercept, r.Line.Slope
	for i, n := range b.o.Clients {
		for _, a := range Architectures() {
			r.Compared = append(r.Compared, b.compare(r, a, i, n))
		}
	}
	return nil
}

// fitLine is the paper's regression: state updates by number of clients.
func (b *bench) fitLine(r *Result) (err error) {
	var x, y []float64
	for _, s := range r.Served {
		x, y = append(x, float64(s.Clients)), append(y, s.Update)
	}
	if r.Line, err = FitLine(x, y); err != nil {
		return err
	}
	for i := range r.Served {
		r.Served[i].Residual = r.Line.Residuals[i]
	}
	return nil
}

// fitCommands finds what a packet between mirrors costs, and each command in it.
func (b *bench) fitCommands(r *Result) error {
	var x, y []float64
	for _, f := range b.fits {
		if f == nil {
			return errors.New("no group was measured")
		}
		x = append(x, f.perTick)
		// bytes of a packet with its share of all else, two members sending
		y = append(y, f.kbits*1000/8/2/float64(b.rate))
	}
	line, err := FitLine(x, y)
	if err != nil {
		return fmt.Errorf("the cost of commands: %w", err)
	}
	r.Command = CommandCost{Packet: line.Intercept, Each: line.Slope, Proof: proofBytes, Line: line}
	return nil
}

// compare puts an architecture's models beside what was measured.
func (b *bench) compare(r *Result, a Architecture, i, n int) Comparison {
	m := b.o.mirrorsFor(n)
	s := &r.Served[i]
	c := Comparison{Architecture: a, Clients: n}
	v := r.Variables
	switch a {
	case ClientServer:
		c.Measured = Rates{
			ClientOut: s.Command, ClientIn: s.Update, ServerIn: s.ServerIn, ServerOut: s.ServerOut,
			Public: s.ServerIn + s.ServerOut, TotalClient: s.Command + s.Update,
			TotalServer: s.ServerIn + s.ServerOut}
	case PeerToPeer:
		v.B = r.Command.B(1, float64(n), b.rate)
		if x := b.peers[i]; x != nil {
			c.Measured = Rates{
				ClientOut: mean(x.out), ClientIn: mean(x.in), Public: x.kbits,
				TotalClient: mean(x.out) + mean(x.in)}
		}
	case Mirrored:
		c.Mirrors = m
		v.B = r.Command.B(float64(n)/float64(m), float64(m), b.rate)
		if x := b.mirrors[i]; x != nil {
			c.Measured, c.By, c.Commands = x.Rates, x.By, x.Commands()
		} else { // one mirror is a server
			c.Measured = Rates{
				ClientOut: s.Command, ClientIn: s.Update, ServerIn: s.ServerIn,
				ServerOut: s.ServerOut, Public: s.ServerIn + s.ServerOut,
				TotalClient: s.Command + s.Update, TotalServer: s.ServerIn + s.ServerOut}
		}
	}
	c.B = v.B
	c.Paper = r.Variables.Paper(a, float64(n), float64(m))
	c.Counted = v.Counted(a, float64(n), float64(m))
	c.Ratio = c.Measured.over(c.Counted)
	return c
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// over divides; what is nothing in both is left at zero.
func (r Rates) over(o Rates) (out Rates) {
	a, b, x := r.list(), o.list(), out.list()
	for i := range x {
		*x[i] = lab.Ratio(*a[i], *b[i])
	}
	return out
}

// tolerance is how far what mirrors exchange may be from the counted model, as a share.
const tolerance = 0.20

// Check is an error where traffic between peers, or what mirrors send each other for commands, is
// not what the model says within the tolerance.
func (r *Result) Check() error {
	var wrong []error
	for _, c := range r.Compared {
		ratio, what := lab.Ratio(c.Commands, c.Counted.Private), "traffic between mirrors"
		if c.Architecture == PeerToPeer {
			ratio, what = c.Ratio.Public, "traffic between peers"
		}
		if c.Architecture == ClientServer || ratio == 0 {
			continue
		}
		if ratio < 1-tolerance || ratio > 1+tolerance {
			wrong = append(wrong,
				fmt.Errorf("%d clients: %s is %.2f times what the model says, which should be "+
					"within %.0f %%", c.Clients, what, ratio, tolerance*100))
		}
	}
	return errors.Join(wrong...)
}
