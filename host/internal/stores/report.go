//go:build !js

package stores

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/store/database"
)

type statusReport struct{ database.Status }

func (s statusReport) String() string {
	var r cli.Rows
	r.Add("database", "%s, %s %s", s.URL, s.Kind, s.Server)
	r.Add("game", "%s", s.Game)
	r.Add("version", "%d", s.Version)
	r.Add("rows", "%d", s.Rows)
	for _, c := range s.Classes {
		r.Add("- "+c.Class, "%d with schema %016x", c.Rows, c.Schema)
	}
	r.Add("answers to requests", "%d", s.Answers)
	for _, f := range s.Fences {
		r.Add("may write for "+f.Subject, "%s, epoch %d", f.Owner, f.Epoch)
	}
	return r.String() + warnings(s.Unknown, s.Durable)
}

// warnings say what is wrong with a database as a whole.
func warnings(unknown int64, durable bool) string {
	text := ""
	if unknown > 0 {
		text += fmt.Sprintf("%d rows have a schema that nobody has told the database: they cannot be "+
			"read\n", unknown)
	}
	if !durable {
		text += "the server has fsync off: what it says is written can be lost in a crash; set " +
			"fsync = on in postgresql.conf\n"
	}
	return text
}

// A checkReport is what check found.
type checkReport struct {
	Game     string    `json:"game"`
	Rows     int64     `json:"rows"`
	Schemas  int       `json:"schemas"`
	Unknown  int64     `json:"unknown"`
	Durable  bool      `json:"durable"`
	Fatal    int       `json:"fatal"` // findings because of which rows would not load
	Findings []finding `json:"findings"`
}

type finding struct {
	Class  string `json:"class"`
	Field  string `json:"field,omitempty"`
	Text   string `json:"text"`
	Schema string `json:"schema"`
	Rows   int64  `json:"rows"` // that were written with it
	Fatal  bool   `json:"fatal"`
}

func (r *checkReport) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		name, weight := f.Class, "note"
		if f.Field != "" {
			name += "." + f.Field
		}
		if f.Fatal {
			weight = "would not load"
		}
		fmt.Fprintf(&b, "%s: %s: %s (schema %s, %d rows)\n", weight, name, f.Text, f.Schema, f.Rows)
	}
	if r.Fatal == 0 {
		fmt.Fprintf(&b, "%s: all %d rows, of %d schemas, would load\n", r.Game, r.Rows, r.Schemas)
	}
	return b.String() + warnings(r.Unknown, r.Durable)
}

type copied struct{ database.Copied }

func (c copied) String() string {
	var r cli.Rows
	r.Add("game", "%s", c.Game)
	r.Add("version", "%d", c.Version)
	r.Add("rows", "%d", c.Rows)
	r.Add("answers to requests", "%d", c.Answers)
	r.Add("bytes of the backup", "%d", c.Bytes)
	r.Add("sum of all that is in it", "%s", c.Sum)
	return r.String()
}
