package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// JSONFlag adds --json, for what Print prints.
func JSONFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print one JSON object")
}

// Print writes a report, as people read it or as one JSON object.
func Print(out io.Writer, r fmt.Stringer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err := io.WriteString(out, r.String())
	return err
}

// Rows are a text of lines that each begin with a name.
type Rows struct{ text strings.Builder }

// Add adds a line.
func (r *Rows) Add(name, format string, args ...any) {
	fmt.Fprintf(&r.text, name+"\t"+format+"\n", args...)
}

// String is the text, with what follows the names in a column.
func (r *Rows) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(w, r.text.String()) // a builder takes everything
	_ = w.Flush()
	return out.String()
}
