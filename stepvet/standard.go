package stepvet

import (
	"go/types"
	"strings"
)

// roots of the standard library's import paths. A path alone tells: the go command keeps these
// names for itself.
var standardRoots = names("archive", "bufio", "bytes", "cmp", "compress", "container", "context",
	"crypto", "database", "debug", "embed",
	"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index",
	"internal", "io", "iter", "log", "maps", "math",
	"mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort",
	"strconv", "strings", "structs", "sync",
	"syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak")

func names(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, n := range list {
		m[n] = true
	}
	return m
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return standardRoots[first]
}

var (
	clockNames = names("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer",
		"NewTicker")
	zoneNames = names("Local", "LoadLocation")
	deadlines = names("WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause",
		"AfterFunc")
	fileNames = names("Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir")
	prints    = names("Print", "Printf", "Println", "Scan", "Scanf", "Scanln")
	sizes     = names("Sizeof", "Offsetof", "Alignof") // constants

	// exactMath is what package math computes without rounding, or with one correct rounding, on
	// every processor.
	exactMath = names("Abs", "Ceil", "Copysign", "Dim", "FMA", "Float32bits", "Float32frombits",
		"Float64bits", "Float64frombits", "Floor",
		"Frexp", "Ilogb", "Inf", "IsInf", "IsNaN", "Ldexp", "Logb", "Max", "Min", "Mod", "Modf",
		"NaN", "Nextafter", "Nextafter32",
		"Remainder", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc")
	// detMath is what package det has instead of the rest.
	detMath = names("Acos", "Asin", "Atan", "Atan2", "Cos", "Exp", "Hypot", "Log", "Pow", "Sin",
		"Sincos", "Tan")
)

const (
	clockAdvice = "which no two machines share and no replay repeats; count ticks instead"
	drawAdvice  = "use det.At with the world's seed, the entity and the tick"
	mapAdvice   = " comes in another order in every run; sort it with slices.Sorted, or keep a slice"

	sharedStream = " draws from a stream that every process seeds differently and all code shares; " + drawAdvice
	ownStream    = " keeps its state outside the world: who draws first changes what others get, and a rollback does not rewind it; " + drawAdvice

	outsideAdvice = " reaches outside the world. " + againAdvice
	againAdvice   = "A tick is stepped on several machines, and again after each correction; keep this outside the rules, and bring what comes of it in as a command"
)

// A verdict is what is wrong with some of the standard library.
type verdict struct {
	// of a package; with /... also of those below it
	path string
	// what of it; nil for all functions and variables
	about    func(obj types.Object, recv string) bool
	category Category
	text     string // what is said of it, after its name; NAME stands for that
}

// named is about functions, or with a receiver about methods of a type.
func named(recv string, list map[string]bool) func(types.Object, string) bool {
	return func(obj types.Object, r string) bool { return r == recv && list[obj.Name()] }
}

// whoever is about functions and methods of any type.
func whoever(list map[string]bool) func(types.Object, string) bool {
	return func(obj types.Object, _ string) bool { return list[obj.Name()] }
}

// reaches is about all but fields and errors.
func reaches(obj types.Object, _ string) bool {
	v, ok := obj.(*types.Var)
	return !ok || !v.IsField() && !strings.HasPrefix(obj.Name(), "Err")
}

// The first verdict that fits counts.
var verdicts = []verdict{
	{"time/...", named("", clockNames), Clock, " is bound to the wall clock, " + clockAdvice},
	{"time/...",
		func(_ types.Object, recv string) bool { return recv == "Timer" || recv == "Ticker" },
		Clock, " is bound to the wall clock, " + clockAdvice},
	{"time/...", whoever(zoneNames), IO,
		" depends on the machine's time zone or files; use time.UTC"},
	{"context/...", named("", deadlines), Clock, " waits for the wall clock, " + clockAdvice},
	{"sync/...", nil, Concurrent,
		" is for goroutines, and a step has just one; a copy of the world would share it: use a " +
			"plain value"},
	{"math", whoever(exactMath), "", ""},
	{"math", whoever(detMath), Math, " gives other bits on other processors; use det.NAME"},
	{"math", nil, Math,
		" gives other bits on other processors; build it from the functions of det"},
	{"math/cmplx", nil, Math,
		" gives other bits on other processors; use det.Vec2 and the functions of det"},
	{"math/rand", sharesStream, Random, sharedStream},
	{"math/rand", nil, Random, ownStream},
	{"math/rand/v2", sharesStream, Random, sharedStream},
	{"math/rand/v2", nil, Random, ownStream},
	{"crypto/rand", nil, Random, " differs in every call; " + drawAdvice},
	{"hash/maphash", nil, Random,
		" has a seed that differs in every process; use a hash of fixed definition, such as " +
			"hash/fnv"},
	{"maps/...", whoever(names("Keys", "Values", "All")), MapIter, mapAdvice},
	{"reflect/...", named("Value", names("MapKeys", "MapRange", "Seq", "Seq2")), MapIter,
		mapAdvice},
	{"reflect/...", named("Value", names("Pointer", "UnsafePointer", "UnsafeAddr")), Address,
		" is an address, which differs from run to run; use the entity's identifier"},
	{"fmt/...", named("", prints), IO, " reaches the console. " + againAdvice},
	{"runtime/...",
		func(obj types.Object, recv string) bool { return recv == "" && obj.Name() != "KeepAlive" },
		IO, " depends on the machine and what else it does; let the rules not depend on it"},
	{"path/filepath", whoever(fileNames), IO, " reads the file system. " + againAdvice},
	{"net/netip", nil, "", ""},
	{"net/url", nil, "", ""},
	{"net/...", nil, IO, " is about the network. " + againAdvice},
	{"os/...", reaches, IO, outsideAdvice},
	{"log/...", reaches, IO, outsideAdvice},
	{"syscall/...", reaches, IO, outsideAdvice},
	{"database/...", reaches, IO, outsideAdvice},
	{"plugin/...", reaches, IO, outsideAdvice},
	{"flag/...", reaches, IO, outsideAdvice},
	{"expvar/...", reaches, IO, outsideAdvice},
	{"io/ioutil", nil, IO, " reads or writes files. " + againAdvice},
}

// sharesStream is about functions that draw from a stream of the whole process.
func sharesStream(obj types.Object, recv string) bool {
	return recv == "" && !strings.HasPrefix(obj.Name(), "New")
}

// judge says what is wrong with an object of the standard library, if anything is.
func judge(obj types.Object) (Category, string) {
	path, name, recv := obj.Pkg().Path(), obj.Name(), receiver(obj)
	full := path + "." + name
	if recv != "" {
		full = path + "." + recv + "." + name
	}
	const sees = " can see addresses, padding and stale bytes, which differ from run to run; use plain values"
	switch obj.(type) {
	case *types.TypeName: // a type does nothing by itself
		if path == "unsafe" {
			return Address, "unsafe code" + sees
		}
		return "", ""
	case *types.Const:
		if path == "runtime" {
			return IO, full +
				" differs between machines that must agree; let the rules not depend on the machine"
		}
		return "", ""
	case *types.Builtin:
		if path == "unsafe" && !sizes[name] {
			return Address, full + sees
		}
		return "", ""
	}
	for _, v := range verdicts {
		root, below := strings.CutSuffix(v.path, "/...")
		if (path == root || below && strings.HasPrefix(path, root+"/")) &&
			(v.about == nil || v.about(obj, recv)) {
			if v.category == "" {
				return "", ""
			}
			return v.category, full + strings.ReplaceAll(v.text, "NAME", name)
		}
	}
	return "", ""
}

// receiver is the name of the type whose method an object is.
func receiver(obj types.Object) string {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return ""
	}
	t := types.Unalias(fn.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return "interface"
}
