// Package workloads holds the recordings that benchmarks play when they are given no other, and the
// tables that were trained for them.
//
// For each name there are NAME.json, the schema, NAME.zst, the frames, and NAME.tables. Package lab
// reads them; README.md says what they are and how they were made. The recordings that the tables
// were trained on stand beside them as NAME_train.zst; they are not part of a program.
package workloads

import "embed"

// Files holds what belongs to each of Names.
//
//go:embed arena.* cubes.*
var Files embed.FS

// Names lists the workloads, in the order in which they are shown.
func Names() []string { return []string{"cubes", "arena"} }
