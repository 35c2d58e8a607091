//go:build !js

package find

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/query"
)

// Columns of the table, those first that matter most where there is no room for all.
const (
	colNumber = iota
	colName
	colRTT
	colJitter
	colLoss
	colPlayers
	colHindrance
	colGame
	colLevel
	colRegion
	colWhere
	columns
)

var heads = [columns]string{"", "name", "rtt", "jitter", "loss", "players", "", "game", "level",
	"region", "where"}

// right are the columns with numbers.
var right = [columns]bool{colNumber: true, colRTT: true, colJitter: true, colLoss: true,
	colPlayers: true}

// mostCell is how long a name may be in the table.
const mostCell = 28

// table is a line for each server, and for each mirror of a group, below one of heads. With a width
// they are cut to it. Columns in which there is nothing are left out.
func table(list []*Server, width int) []string {
	rows := [][columns]string{heads}
	for i, s := range list {
		rows = append(rows, row(i+1, s))
		if len(s.Places) < 2 {
			continue
		}
		for _, p := range s.Places {
			rows = append(rows, mirrorRow(p))
		}
	}
	var wide [columns]int
	for _, r := range rows[1:] {
		for i, c := range r {
			if c != "" {
				wide[i] = max(wide[i], utf8.RuneCountInString(c), len(heads[i]))
			}
		}
	}
	lines := make([]string, len(rows))
	for k, r := range rows {
		var b strings.Builder
		for i, c := range r {
			if wide[i] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
			if right[i] {
				b.WriteString(pad + c)
			} else {
				b.WriteString(c + pad)
			}
		}
		lines[k] = cut(strings.TrimRight(b.String(), " "), width)
	}
	return lines
}

// cut shortens a line to a width, if there is one.
func cut(line string, width int) string {
	if width < 1 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

// clean is a text that others have written, for one's own terminal.
func clean(text string) string { return query.Clean(text, mostCell) }

func row(number int, s *Server) (r [columns]string) {
	r[colNumber], r[colName] = fmt.Sprint(number), clean(s.Name)
	r[colPlayers] = fmt.Sprintf("%d/%d", s.Players, s.Capacity)
	r[colHindrance], r[colGame] = s.Hindrance, clean(s.Game)
	r[colLevel], r[colRegion] = clean(s.Level), clean(s.Region)
	switch {
	case len(s.Places) > 1:
		r[colWhere] = fmt.Sprintf("%d mirrors", len(s.Places))
	case len(s.Places) == 1:
		r[colWhere] = address(s.Places[0])
	}
	if len(s.Places) > 0 {
		s.Places[0].fill(&r)
	}
	return r
}

// mirrorRow is one place of a group.
func mirrorRow(p *Place) (r [columns]string) {
	r[colName], r[colPlayers] = "  "+clean(p.Name), fmt.Sprint(p.Players)
	r[colRegion], r[colWhere] = clean(p.Region), address(p)
	p.fill(&r)
	return r
}

// fill fills in what was measured.
func (p *Place) fill(r *[columns]string) {
	switch t := p.Trip; {
	case t != nil:
		r[colRTT], r[colJitter] = fmt.Sprintf("%.1f ms", t.RTT), fmt.Sprintf("%.1f", t.Jitter)
		r[colLoss] = fmt.Sprintf("%.0f %%", 100*t.Loss)
	case !p.at.IsValid():
		r[colRTT] = "-"
	case p.known.Sent > 0:
		r[colRTT] = "no answer"
	case p.asked:
		r[colRTT] = "..."
	}
}

// address is where a place is, for people.
func address(p *Place) string {
	if p.at.IsValid() {
		return p.at.String()
	}
	return clean(p.Addresses.WS)
}
