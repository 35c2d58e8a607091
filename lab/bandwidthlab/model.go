package bandwidthlab

// Architecture is one of the three ways to join players that the paper compares.
type Architecture string

// The architectures. In ClientServer one server computes the game; in PeerToPeer every player's
// machine does, and sends its commands to all others; in Mirrored several servers do, each with its
// own clients, and send each other their clients' commands.
const (
	ClientServer Architecture = "client-server"
	PeerToPeer   Architecture = "peer-to-peer"
	Mirrored     Architecture = "mirrored"
)

// Architectures lists all three, in the paper's order.
func Architectures() []Architecture { return []Architecture{ClientServer, PeerToPeer, Mirrored} }

// Variables are those of Table 2.1 that Table 2.2 is written in: rates, in any unit. The paper's
// are in PaperVariables.
type Variables struct {
	// A is what a client sends to its server: its commands, with all that goes around them.
	A float64 `json:"a"`
	// B is what one client's commands take on the way from one mirror, or peer, to one other.
	B float64 `json:"b"`
	// C is the rate of state updates to one client in a game with no clients, and DE by how much it
	// grows with each.
	C  float64 `json:"c"`
	DE float64 `json:"d_plus_e"`
}

// PaperVariables are Table 2.3: Quake, with one to five players, in kbit/s.
var PaperVariables = Variables{A: 5.68, B: 10.6, C: 1.16, DE: 5.36}

// paperCorrelation is that of the regression which C and DE of PaperVariables come from.
const paperCorrelation = 0.8682

// paperAlpha is Table 2.5: by number of clients, the share of the other clients in a state update.
var paperAlpha = map[int]float64{2: 0.667, 3: 0.132, 4: 0.285, 5: 0.167}

// paperPerMirror is how many clients the paper gives each mirror.
const paperPerMirror = 8

// Rates are the rows of Table 2.2. Those of a server are of its traffic with clients, those of a
// mirror of its traffic with other mirrors; both of one machine.
type Rates struct {
	ClientOut   float64 `json:"client_out"`
	ClientIn    float64 `json:"client_in"`
	ServerIn    float64 `json:"server_in"`
	ServerOut   float64 `json:"server_out"`
	MirrorIn    float64 `json:"mirror_in"`
	MirrorOut   float64 `json:"mirror_out"`
	Private     float64 `json:"private_network"` // between mirrors
	Public      float64 `json:"public_network"`  // to and from clients
	TotalClient float64 `json:"total_client"`
	TotalServer float64 `json:"total_server"`
}

// Update is the rate of state updates to one of n clients.
func (v Variables) Update(n float64) float64 { return v.C + v.DE*n }

// Paper gives the rates of n clients as Table 2.2 has them, for m mirrors where there are any. The
// table is asymptotic: it counts a player among those whom it sends to, takes a mirror's clients
// for a constant, has traffic on the private network even where there are no mirrors, and counts
// what mirrors exchange as if each client were one. In the total of a mirror Table 2.4 counts state
// updates for all of its clients, neither their commands nor what other mirrors send; this does the
// same. Counted gives the rates without these liberties.
func (v Variables) Paper(a Architecture, n, m float64) Rates {
	s := v.Update(n)
	switch a {
	case PeerToPeer:
		r := Rates{ClientOut: v.B * n, ClientIn: v.B * n, Private: v.B * n * n, Public: v.B * n * n,
			TotalClient: v.B * n}
		return r
	case Mirrored:
		k := n / m
		return Rates{
			ClientOut: v.A, ClientIn: s, ServerIn: v.A * k, ServerOut: s * k, MirrorIn: v.B * n,
			MirrorOut: v.B * n,
			Private:   v.B * n * n, Public: (v.A + s) * n, TotalClient: v.A + s,
			TotalServer: v.B*n +
				s*k,
		}
	}
	all := (v.A + s) * n
	return Rates{
		ClientOut: v.A, ClientIn: s, ServerIn: v.A * n, ServerOut: s * n, Private: all, Public: all,
		TotalClient: v.A + s, TotalServer: all}
}

// Counted gives the rates of n clients, and of m mirrors with n/m of them each, with every message
// counted where it is sent and where it arrives: what is measured should be this.
func (v Variables) Counted(a Architecture, n, m float64) Rates {
	s := v.Update(n)
	switch a {
	case PeerToPeer:
		each := v.B * (n - 1)
		return Rates{ClientOut: each, ClientIn: each, Public: each * n, TotalClient: 2 * each}
	case Mirrored:
		k := n / m
		r := Rates{
			ClientOut: v.A, ClientIn: s, ServerIn: v.A * k, ServerOut: s * k,
			MirrorIn: v.B * (n - k), MirrorOut: v.B * k * (m - 1),
			Private: v.B * n * (m - 1), Public: (v.A + s) * n, TotalClient: v.A + s,
		}
		r.TotalServer = r.ServerIn + r.ServerOut + r.MirrorIn + r.MirrorOut
		return r
	}
	all := (v.A + s) * n
	return Rates{
		ClientOut: v.A, ClientIn: s, ServerIn: v.A * n, ServerOut: s * n, Public: all,
		TotalClient: v.A + s, TotalServer: all}
}

func (r *Rates) client() float64 { return r.TotalClient }

func (r *Rates) server() float64 { return r.TotalServer }

// list are all of them.
func (r *Rates) list() []*float64 {
	return []*float64{
		&r.ClientOut, &r.ClientIn, &r.ServerIn, &r.ServerOut, &r.MirrorIn, &r.MirrorOut, &r.Private,
		&r.Public, &r.TotalClient, &r.TotalServer}
}
