package layers

import (
	"go/ast"
	"go/token"
	"strings"
)

// unwanted are the packages that no pure package imports, each with what to do
// instead. An entry covers the packages inside it.
var unwanted = map[string]string{
	"net":          "take and give datagrams; addresses are net/netip",
	"os":           "take a reader or bytes",
	"syscall":      "leave the system to link and topology",
	"io/ioutil":    "take a reader or bytes",
	"log":          "return an error or count the event",
	"math/rand":    "draw from det, by a seed that the caller gives",
	"crypto/rand":  "take fresh randomness as an argument",
	"hash/maphash": "its seed differs from run to run: use a hash of fixed definition",
}

// unwantedNames are what no pure package uses of packages that it may import.
var unwantedNames = map[string]map[string]string{
	"time": advice("take the time as an argument",
		"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
		"Timer", "Ticker", "Local", "LoadLocation"),
	"context": advice("take the time as an argument",
		"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"),
	"sync": advice("offer the unit of work and let the topology own the workers",
		"Mutex", "RWMutex", "WaitGroup", "Cond", "NewCond", "Map", "Locker"),
	"runtime": advice("leave scheduling to the topology",
		"Gosched", "GOMAXPROCS", "NumCPU", "NumGoroutine", "LockOSThread", "UnlockOSThread",
		"Goexit"),
	"fmt": advice("take a writer",
		"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"),
}

func advice(text string, names ...string) map[string]string {
	m := make(map[string]string, len(names))
	for _, n := range names {
		m[n] = text
	}
	return m
}

// checkPurity looks for whatever would make a file's behaviour depend on
// anything but its arguments.
func (c *Chart) checkPurity(t *Tree, p *Package, f *File) []Finding {
	var out []Finding
	report := func(n ast.Node, what, instead string) {
		text := what + " in a pure package"
		if instead != "" {
			text += ": " + instead
		}
		out = append(out, Finding{t.at(n), text})
	}
	local := map[string]string{} // the file's name for an import, and what it stands for
	for _, spec := range f.Syntax.Imports {
		name := importOf(spec)
		if why, bad := unwantedImport(name); bad {
			report(spec, "import of "+name, why)
		}
		switch {
		case spec.Name == nil:
			local[name[strings.LastIndex(name, "/")+1:]] = name
		case spec.Name.Name == "." && unwantedNames[name] != nil:
			report(spec, "dot import of "+name, "name it, so that its use can be seen")
		default:
			local[spec.Name.Name] = name
		}
	}
	for _, group := range f.Syntax.Comments {
		for _, line := range group.List {
			if strings.HasPrefix(line.Text, "//go:linkname ") {
				report(line, "go:linkname", "use what is exported")
			}
		}
	}
	const workers = "offer the unit of work and let the topology own the workers"
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "go statement", workers)
		case *ast.ChanType:
			report(n, "channel type", workers)
		case *ast.SendStmt:
			report(n, "channel send", workers)
		case *ast.SelectStmt:
			report(n, "select statement", workers)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n, "channel receive", workers)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if why, bad := unwantedNames[local[x.Name]][n.Sel.Name]; bad {
					report(n, local[x.Name]+"."+n.Sel.Name, why)
				}
			}
		case *ast.CallExpr:
			if x, ok := n.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
				report(n, x.Name, "take a writer")
			}
		}
		return true
	})
	return out
}

func unwantedImport(name string) (why string, bad bool) {
	if name == "net/netip" {
		return "", false
	}
	for p, why := range unwanted {
		if within(name, p) {
			return why, true
		}
	}
	return "", false
}
