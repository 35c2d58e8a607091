package learned

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"syscall/js"
)

// Browser keeps tables in what the browser keeps for the page's origin. Where that is not allowed,
// nothing is kept.
type Browser struct{}

// What is kept of all servers together: four sets at most.
const (
	mostSets  = 4
	mostBytes = 64 << 10
	prefix    = "coeval-learned-"
	index     = "coeval-learned"
)

// call calls a method of the storage. A page that may not use it throws.
func call(method string, args ...any) (v js.Value) {
	defer func() {
		if recover() != nil {
			v = js.Null()
		}
	}()
	return js.Global().Get("localStorage").Call(method, args...)
}

func name(hash [32]byte) string { return hex.EncodeToString(hash[:16]) }

// Load gives tables that were kept, or nil.
func (Browser) Load(hash [32]byte) []byte {
	v := call("getItem", prefix+name(hash))
	if v.Type() != js.TypeString || v.Length() > mostBytes*2 {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(v.String())
	if err != nil {
		return nil
	}
	return data
}

// Keep keeps tables, and forgets those that were kept longest if there are too many.
func (Browser) Keep(hash [32]byte, data []byte) {
	if len(data) > mostBytes {
		return
	}
	var names []string
	if v := call("getItem", index); v.Type() == js.TypeString && v.String() != "" {
		names = strings.Split(v.String(), " ")
	}
	kept := []string{name(hash)}
	for _, n := range names {
		switch {
		case n == kept[0]:
		case len(kept) < mostSets:
			kept = append(kept, n)
		default:
			call("removeItem", prefix+n)
		}
	}
	call("setItem", index, strings.Join(kept, " "))
	call("setItem", prefix+kept[0], base64.StdEncoding.EncodeToString(data))
}
