package stepvet

import (
	"fmt"
	"go/types"
	"strings"
)

// roots of the standard library's import paths. A path alone tells: the go command keeps these names for itself.
var standardRoots = names("archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
	"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math",
	"mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync",
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
	clockNames = names("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker")
	zoneNames  = names("Local", "LoadLocation")
	deadlines  = names("WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc")
	fileNames  = names("Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir")
	prints     = names("Print", "Printf", "Println", "Scan", "Scanf", "Scanln")
	sizes      = names("Sizeof", "Offsetof", "Alignof") // constants

	// exactMath is what package math computes without rounding, or with one correct rounding, on every processor.
	exactMath = names("Abs", "Ceil", "Copysign", "Dim", "FMA", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor",
		"Frexp", "Ilogb", "Inf", "IsInf", "IsNaN", "Ldexp", "Logb", "Max", "Min", "Mod", "Modf", "NaN", "Nextafter", "Nextafter32",
		"Remainder", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc")
	// detMath is what package det has instead of the rest.
	detMath = names("Acos", "Asin", "Atan", "Atan2", "Cos", "Exp", "Hypot", "Log", "Pow", "Sin", "Sincos", "Tan")
)

const (
	clockAdvice = "which no two machines share and no replay repeats; count ticks instead"
	againAdvice = "A tick is stepped on several machines, and again after each correction; keep this outside the rules, and bring what comes of it in as a command"
)

// judge says what is wrong with an object of the standard library, if anything is.
func judge(obj types.Object) (Category, string) {
	path, name := obj.Pkg().Path(), obj.Name()
	full := path + "." + name
	recv := receiver(obj)
	if recv != "" {
		full = path + "." + recv + "." + name
	}
	switch obj.(type) {
	case *types.TypeName:
		if path == "unsafe" {
			return Address, "unsafe code can see addresses, padding and stale bytes, which differ from run to run; use plain values"
		}
		return "", "" // a type does nothing by itself
	case *types.Const:
		if path == "runtime" {
			return IO, full + " differs between machines that must agree; let the rules not depend on the machine"
		}
		return "", ""
	case *types.Builtin:
		if path == "unsafe" && !sizes[name] {
			return Address, full + " can see addresses, padding and stale bytes, which differ from run to run; use plain values"
		}
		return "", ""
	}
	switch first, _, _ := strings.Cut(path, "/"); first {
	case "time":
		switch {
		case recv == "" && clockNames[name] || recv == "Timer" || recv == "Ticker":
			return Clock, full + " is bound to the wall clock, " + clockAdvice
		case zoneNames[name]:
			return IO, full + " depends on the machine's time zone or files; use time.UTC"
		}
	case "context":
		if recv == "" && deadlines[name] {
			return Clock, full + " waits for the wall clock, " + clockAdvice
		}
	case "sync":
		return Concurrent, full + " is for goroutines, and a step has just one; a copy of the world would share it: use a plain value"
	case "math":
		return judgeMath(path, name, recv, full)
	case "crypto":
		if path == "crypto/rand" {
			return Random, full + " differs in every call; use det.At with the world's seed, the entity and the tick"
		}
	case "hash":
		if path == "hash/maphash" {
			return Random, full + " has a seed that differs in every process; use a hash of fixed definition, such as hash/fnv"
		}
	case "maps":
		if name == "Keys" || name == "Values" || name == "All" {
			return MapIter, mapOrder(full)
		}
	case "reflect":
		switch {
		case recv == "Value" && (name == "MapKeys" || name == "MapRange" || name == "Seq" || name == "Seq2"):
			return MapIter, mapOrder(full)
		case recv == "Value" && (name == "Pointer" || name == "UnsafePointer" || name == "UnsafeAddr"):
			return Address, full + " is an address, which differs from run to run; use the entity's identifier"
		}
	case "fmt":
		if recv == "" && prints[name] {
			return IO, full + " reaches the console. " + againAdvice
		}
	case "runtime":
		if name != "KeepAlive" && recv == "" {
			return IO, full + " depends on the machine and what else it does; let the rules not depend on it"
		}
	case "path":
		if path == "path/filepath" && fileNames[name] {
			return IO, full + " reads the file system. " + againAdvice
		}
	case "net":
		if path != "net/netip" && path != "net/url" {
			return IO, full + " is about the network. " + againAdvice
		}
	case "os", "log", "syscall", "database", "plugin", "flag", "expvar":
		if v, ok := obj.(*types.Var); ok && (v.IsField() || strings.HasPrefix(name, "Err")) {
			return "", ""
		}
		return IO, full + " reaches outside the world. " + againAdvice
	case "io":
		if path == "io/ioutil" {
			return IO, full + " reads or writes files. " + againAdvice
		}
	}
	return "", ""
}

func judgeMath(path, name, recv, full string) (Category, string) {
	switch path {
	case "math":
		if exactMath[name] {
			return "", ""
		}
		instead := "build it from the functions of det"
		if detMath[name] {
			instead = "use det." + name
		}
		return Math, fmt.Sprintf("%s gives other bits on other processors; %s", full, instead)
	case "math/cmplx":
		return Math, full + " gives other bits on other processors; use det.Vec2 and the functions of det"
	case "math/rand", "math/rand/v2":
		if recv == "" && !strings.HasPrefix(name, "New") {
			return Random, full + " draws from a stream that every process seeds differently and all code shares; use det.At with the world's seed, the entity and the tick"
		}
		return Random, full + " keeps its state outside the world: who draws first changes what others get, and a rollback does not rewind it; use det.At with the world's seed, the entity and the tick"
	}
	return "", ""
}

func mapOrder(what string) string {
	return what + " comes in another order in every run; sort it with slices.Sorted, or keep a slice"
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
