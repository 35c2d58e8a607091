package peers

import "github.com/coeval-dev/coeval/conn"

// Ledger is what was sent to the other members, by what each byte was for: of the connections that
// there are now. What goes through doors is not in it.
func (p *Peer) Ledger() (sum conn.Ledger) {
	for _, q := range p.pairs {
		var l conn.Ledger
		if q.server != nil {
			l = q.server.Ledger()
		} else {
			l = q.client.Ledger()
		}
		sum.Add(&l)
	}
	return sum
}

// Ledger is what was sent to the relay, by what each byte was for.
func (p *Relayed) Ledger() conn.Ledger {
	sum := p.line.past
	if p.line.client != nil {
		l := p.line.client.Ledger()
		sum.Add(&l)
	}
	return sum
}
