package token

// A Mark is what a server remembers of a token or ticket that has let someone in, so that it does
// so once. Nobody can connect with it.
type Mark struct {
	ID      [IDSize]byte
	Client  uint64
	Expires int64
	Resumed bool // it was a ticket
}

// Mark is what to remember of a token.
func (g *Grant) Mark() Mark { return Mark{g.ID, g.Client, g.Expires, g.Resumed} }
