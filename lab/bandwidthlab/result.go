package bandwidthlab

// Result is all that Run found. Rates are in kbit/s, without the headers of UDP and IP. The JSON names are for scripts and stay.
type Result struct {
	Game      string  `json:"game"`
	Seed      uint64  `json:"seed"`
	TickRate  int     `json:"ticks_per_second"`
	Snapshots int     `json:"snapshots_per_second"`
	Seconds   float64 `json:"seconds"`

	Paper     Variables   `json:"paper"`
	Variables Variables   `json:"variables"` // a, b, c and d+e, found in the paper's way
	Line      Line        `json:"regression"`
	Command   CommandCost `json:"command_cost"`
	Served    []ServedRow `json:"measured"`

	Compared   []Comparison    `json:"architectures"`
	Topologies []TopologyRow   `json:"topologies,omitempty"`
	Cities     *DelaysInResult `json:"cities"`
	Warnings   []string        `json:"warnings,omitempty"`
}

// DelaysInResult are Delays in the form of a result: round trips in milliseconds.
type DelaysInResult struct {
	Places []string    `json:"places"`
	Trips  [][]float64 `json:"round_trips_ms"`
}

// ServedRow is a real server with so many clients, measured. Rates are means over clients unless they are a server's.
type ServedRow struct {
	Clients     int          `json:"clients"`
	Seconds     float64      `json:"seconds"`
	Command     float64      `json:"a"`      // client to server, of each client
	Update      float64      `json:"update"` // server to client, to each client
	UpdateLeast float64      `json:"update_least"`
	UpdateMost  float64      `json:"update_most"`
	ServerIn    float64      `json:"server_in"`
	ServerOut   float64      `json:"server_out"`
	PacketsIn   float64      `json:"packets_in_per_second"`
	PacketsOut  float64      `json:"packets_out_per_second"`
	Snapshots   float64      `json:"snapshots_per_second"`
	Late        float64      `json:"commands_late"` // share
	Clientwise  [][2]float64 `json:"by_client"`     // out and in of each

	// From the server's ledger. DPart and EPart are the parts of Update that are about every player and about those near; C is the rest.
	C     float64 `json:"c"`
	DPart float64 `json:"d_part"`
	EPart float64 `json:"e_part"`
	D     float64 `json:"d"` // DPart for each client
	E     float64 `json:"e"` // EPart for each client that is in an update, the receiver included
	// Alpha is the share of other clients in a state update, InView of those in view.
	Alpha    float64 `json:"alpha"`
	InView   float64 `json:"in_view"`
	Residual float64 `json:"residual"` // of Update, from the line
}

// CommandCost is what the commands of k clients cost in one packet to one other member of a group of g, in bytes: Packet + Proof (g-2) + Each k. B follows from
// it. Packet and Each are fitted to groups of two, with different numbers of clients; Proof is a constant of package crimp.
type CommandCost struct {
	Packet float64 `json:"packet_bytes"`
	Each   float64 `json:"command_bytes"`
	Proof  float64 `json:"proof_bytes"`
	Line   Line    `json:"fit"`
}

// B is the paper's b, in kbit/s, of clients who share packets by k, in a group of g members.
func (c *CommandCost) B(k, g float64, rate int) float64 {
	if k <= 0 {
		return 0
	}
	return (c.Packet + c.Proof*max(g-2, 0) + c.Each*k) / k * float64(rate) * 8 / 1000
}

// Comparison is one architecture with so many clients: by the paper's table, by the count of messages, and measured. In Ratio are measured over counted.
type Comparison struct {
	Architecture Architecture `json:"architecture"`
	Clients      int          `json:"clients"`
	Mirrors      int          `json:"mirrors"`
	B            float64      `json:"b"` // that Counted uses
	Paper        Rates        `json:"paper_model"`
	Counted      Rates        `json:"counted_model"`
	Measured     Rates        `json:"measured"`
	Ratio        Rates        `json:"ratio"`
}

// TopologyRow is the latency of one architecture on one topology.
type TopologyRow struct {
	Topology     string       `json:"topology"`
	About        string       `json:"about"`
	Architecture Architecture `json:"architecture"`
	Players      int          `json:"players"`
	Servers      []string     `json:"servers,omitempty"` // where they stand
	// Home is a player's round trip to the own server or mirror, on average: what cannot be hidden of what one does oneself. Peers have none.
	Home     float64 `json:"home_round_trip_ms"`
	Path     Latency `json:"path"` // of the network alone
	Computed Latency `json:"computed"`
	Measured Latency `json:"measured"`
	Late     float64 `json:"commands_late"`
}

func (d *Delays) result() *DelaysInResult {
	out := &DelaysInResult{Places: d.Places}
	for _, ways := range d.Way {
		row := make([]float64, 0, len(ways))
		for _, w := range ways {
			row = append(row, 2*millis(w))
		}
		out.Trips = append(out.Trips, row)
	}
	return out
}
