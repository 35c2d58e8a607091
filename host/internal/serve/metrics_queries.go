//go:build !js

package serve

import (
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/query"
)

// Queries adds what those asked who have not joined. All of it is sent beside connections: what it
// takes is one of the purposes of sent bytes.
func (m *Metrics) Queries(d *queries.Desk) {
	c := d.Counts()
	asked, answered := map[string]uint64{}, map[string]uint64{}
	for k := query.Ping; int(k) < len(c.Queries); k++ {
		asked[k.String()], answered[k.String()] = c.Queries[k], c.Answers[k]
	}
	Counts(m, "queries_total", "Queries of those who have not joined, by kind.", "kind", asked)
	Counts(m, "answers_total", "Queries that were answered, by kind.", "kind", answered)
	Counts(m, "queries_left_total", "Queries that were not answered, by reason.", "reason",
		map[string]uint64{"malformed": c.Malformed, "flooded": c.Flooded, "crowded": c.Crowded})
	m.Count("query_bytes_total", "Bytes of queries.", c.BytesIn)
	m.Count("messages_total", "Messages to the operator from those who have not joined.",
		c.Messages)
}
