package bandwidthlab

import "github.com/coeval-dev/coeval/lab"

// Result is all that Run found. Rates are in kbit/s, without the headers of UDP and IP. The JSON
// names are for scripts and stay.
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

// ServedRow is a real server with so many clients, measured. Rates are means over clients unless
// they are a server's.
type ServedRow struct {
	Clients int     `json:"clients" head:"clients"`
	Seconds float64 `json:"seconds"`
	// client to server, of each client
	Command float64 `json:"a" head:"commands" as:"%.2f"`
	// server to client, to each client
	Update      float64      `json:"update" head:"updates" as:"%.2f"`
	UpdateLeast float64      `json:"update_least" head:"least" as:"%.2f"`
	UpdateMost  float64      `json:"update_most" head:"most" as:"%.2f"`
	ByLine      float64      `json:"-" head:"by line" as:"%.2f"`
	ServerIn    float64      `json:"server_in"`
	ServerOut   float64      `json:"server_out"`
	PacketsIn   float64      `json:"packets_in_per_second"`
	PacketsOut  float64      `json:"packets_out_per_second"`
	Snapshots   float64      `json:"snapshots_per_second"`
	Late        float64      `json:"commands_late" head:"late" as:"%.1f %%"` // share
	Clientwise  [][2]float64 `json:"by_client"`                              // out and in of each

	// From the server's ledger. DPart and EPart are the parts of Update that are about every player
	// and about those near; C is the rest.
	C     float64 `json:"c" head:"c" as:"%.2f"`
	DPart float64 `json:"d_part"`
	EPart float64 `json:"e_part"`
	D     float64 `json:"d" head:"d" as:"%.3f"` // DPart for each client
	// EPart for each client that is in an update, the receiver included
	E float64 `json:"e" head:"e" as:"%.2f"`
	// Alpha is the share of other clients in a state update, InView of those in view.
	Alpha    float64 `json:"alpha" head:"alpha" as:"?%.1f %%"`
	Paper    float64 `json:"-" head:"paper's" as:"?%.1f %%"`
	InView   float64 `json:"in_view" head:"in view" as:"?%.1f %%"`
	Residual float64 `json:"residual" head:"residual" as:"%.2f"` // of Update, from the line
}

// CommandCost is what the commands of k clients cost in one packet to one other member of a group
// of g, in bytes: Packet + Proof (g-2) + Each k. B follows from it. Packet and Each are fitted to
// groups of two, with different numbers of clients; Proof is a constant of package crimp.
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

// Comparison is one architecture with so many clients: by the paper's table, by the count of
// messages, and measured. In Ratio are measured over counted.
type Comparison struct {
	Architecture Architecture `json:"architecture"`
	Clients      int          `json:"clients" head:"clients"`
	Mirrors      int          `json:"mirrors" head:"mirrors" as:"?%d"`
	B            float64      `json:"b"` // that Counted uses
	Paper        Rates        `json:"paper_model"`
	Counted      Rates        `json:"counted_model"`
	Measured     Rates        `json:"measured"`
	Ratio        Rates        `json:"ratio"`
	// By is what real mirrors sent each other, by what it was for.
	By map[string]float64 `json:"between_by_purpose,omitempty"`
	// Commands is the part of that which is about commands, as the models count it: messages with
	// what stands around them. The rest is what mirrors need to agree.
	Commands float64 `json:"between_for_commands,omitempty"`
}

// TopologyRow is the latency of one architecture on one topology.
type TopologyRow struct {
	Topology     string       `json:"topology"`
	About        string       `json:"about"`
	Architecture Architecture `json:"architecture" head:"architecture"`
	Players      int          `json:"players"`
	Servers      []string     `json:"servers,omitempty" head:"servers"` // where they stand
	// Home is a player's round trip to the own server or mirror, on average: what cannot be hidden
	// of what one does oneself. Peers have none.
	Home     float64 `json:"home_round_trip_ms" head:"home and back" as:"%.0f"`
	Path     Latency `json:"path"` // of the network alone
	Computed Latency `json:"computed"`
	Measured Latency `json:"measured"`
	Late     float64 `json:"commands_late" head:"late" as:"%.1f %%"`
}

func (d *Delays) result() *DelaysInResult {
	out := &DelaysInResult{Places: d.Places}
	for _, ways := range d.Way {
		row := make([]float64, 0, len(ways))
		for _, w := range ways {
			row = append(row, 2*lab.Millis(w))
		}
		out.Trips = append(out.Trips, row)
	}
	return out
}
