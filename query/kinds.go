package query

import (
	"fmt"
	"strings"
)

// Kinds is a set of kinds: those that a server answers.
type Kinds uint8

// Sets of kinds.
const (
	// AllKinds is every kind there is.
	AllKinds Kinds = 1<<(kinds-1) - 1
	// DefaultKinds is what a server answers if its operator says nothing: all but messages.
	DefaultKinds = AllKinds &^ (1 << (Message - 1))
)

// Has says whether a kind is among them.
func (k Kinds) Has(x Kind) bool { return x > 0 && x < kinds && k>>(x-1)&1 == 1 }

// With is the set with a kind more.
func (k Kinds) With(x Kind) Kinds { return k | 1<<(x-1) }

// String lists the kinds as ParseKinds reads them.
func (k Kinds) String() string {
	var names []string
	for x := Ping; x < kinds; x++ {
		if k.Has(x) {
			names = append(names, x.String())
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

// MarshalText lists the kinds.
func (k Kinds) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a list of kinds.
func (k *Kinds) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKinds(string(text))
	return err
}

// ParseKinds reads a list such as who,info,ping; "all" and "none" are lists too.
func ParseKinds(text string) (k Kinds, err error) {
	switch text {
	case "none":
		return 0, nil
	case "all":
		return AllKinds, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		x, ok := ParseKind(strings.TrimSpace(name))
		if !ok {
			return 0, fmt.Errorf("%.40q is no query: give some of %v, or all, or none", name,
				AllKinds)
		}
		k = k.With(x)
	}
	return k, nil
}
