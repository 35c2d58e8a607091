package admin

import (
	"fmt"
	"strings"
)

// A Role says what the holder of a token may do. Each may do what those before it may.
type Role uint8

// The roles.
const (
	// Watch sees how the game is, and changes nothing. It is not told players' addresses.
	Watch Role = iota + 1
	// Moderate also deals with people: messages, kicks, bans, mutes.
	Moderate
	// Operate also deals with the game and its program: levels, content, knobs, pauses, saving,
	// draining, diagnosis and the end.
	Operate
)

var roleNames = [...]string{Watch: "watch", Moderate: "moderate", Operate: "operate"}

func (r Role) String() string {
	if r >= Watch && r <= Operate {
		return roleNames[r]
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// ParseRole reads a role by its name.
func ParseRole(text string) (Role, error) {
	for r := Watch; r <= Operate; r++ {
		if text == r.String() {
			return r, nil
		}
	}
	return 0, fmt.Errorf("there is no role %.40q; choose %s", text,
		strings.Join(roleNames[Watch:], ", "))
}

// MarshalText writes the name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}
