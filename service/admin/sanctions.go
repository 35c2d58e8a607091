package admin

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
)

// A Sanction keeps someone out, or silent: an account, by the number in its tokens, or whoever
// comes from a network.
type Sanction struct {
	ID   uint64 `json:"id"`
	Kind string `json:"kind"` // Ban or Mute
	// Client is the account, or zero. As JSON it is a text, since it may have 64 bits.
	Client uint64 `json:"client,string,omitempty"`
	// Network is where they come from, or nothing: an address is a network of one.
	Network netip.Prefix `json:"network,omitzero"`
	Name    string       `json:"name,omitempty"` // that the account had
	Why     string       `json:"why,omitempty"`
	By      string       `json:"by"` // the name of the token
	Made    time.Time    `json:"made"`
	Until   time.Time    `json:"until,omitzero"` // zero is for ever
}

// The kinds of sanctions.
const (
	Ban  = "ban"
	Mute = "mute"
)

const (
	sanctionVersion = 1
	mostSanctions   = 20_000
	mostWhy         = 200
)

// Over says whether a sanction counts no more.
func (s *Sanction) Over(now time.Time) bool { return !s.Until.IsZero() && !now.Before(s.Until) }

// check says what is wrong with a sanction.
func (s *Sanction) check() error {
	switch {
	case s.Kind != Ban && s.Kind != Mute:
		return fmt.Errorf("a sanction of the kind %.20q", s.Kind)
	case (s.Client == 0) == !s.Network.IsValid():
		return errors.New("a sanction is of an account or of a network, and of one of them")
	case s.Network.IsValid() && s.Network != s.Network.Masked():
		return fmt.Errorf("the network %v has more than its own bits", s.Network)
	case len(s.Why) > mostWhy || !plain(s.Why) || len(s.Name) > 4*mostName || !plain(s.Name):
		return fmt.Errorf("the reason must have at most %d bytes, in one line", mostWhy)
	}
	return nil
}

// of says whether a sanction is of somebody.
func (s *Sanction) of(client uint64, from netip.Addr) bool {
	if s.Client != 0 {
		return s.Client == client
	}
	return s.Network.Contains(from.Unmap().WithZone(""))
}

// text is what the person is told.
func (s *Sanction) text() string {
	what := map[string]string{Ban: "you are banned", Mute: "you are muted"}[s.Kind]
	if !s.Until.IsZero() {
		what += " until " + s.Until.UTC().Format("2006-01-02 15:04 UTC")
	}
	if s.Why != "" {
		what += ": " + s.Why
	}
	return what
}

// A sanctionFile is how they are kept.
type sanctionFile struct {
	Version   int        `json:"version"`
	Next      uint64     `json:"next"`
	Sanctions []Sanction `json:"sanctions"`
}

// parseSanctions reads the file, all of it or nothing.
func parseSanctions(data []byte) (f sanctionFile, err error) {
	if err := decodeStrict(data, &f); err != nil {
		return f, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	if f.Version != sanctionVersion {
		return f, fmt.Errorf("it has version %d, and this program reads %d: use the program that "+
			"wrote it", f.Version, sanctionVersion)
	}
	if len(f.Sanctions) > mostSanctions {
		return f, fmt.Errorf("it has %d entries, at most %d are read", len(f.Sanctions),
			mostSanctions)
	}
	for i := range f.Sanctions {
		if err := f.Sanctions[i].check(); err != nil {
			return f, fmt.Errorf("%w (entry %d: %w)", errDamaged, i+1, err)
		}
	}
	return f, nil
}

// Reload has those bans and mutes count that are in the folder, which another program may have
// changed. On an error those count that did.
func (f *Folder) Reload() error {
	f.files.Lock()
	defer f.files.Unlock()
	_, err := f.readSanctions()
	return err
}

// readSanctions reads the file, and has count what is in it. Files are held.
func (f *Folder) readSanctions() (file sanctionFile, err error) {
	data, err := f.read(sanctionsName)
	if err != nil {
		return file, err
	}
	if data != nil {
		if file, err = parseSanctions(data); err != nil {
			return file, fmt.Errorf("%s: %w", f.at(sanctionsName), err)
		}
	}
	file.Next = max(file.Next, 1)
	for i := range file.Sanctions {
		file.Next = max(file.Next, file.Sanctions[i].ID+1)
	}
	f.sanctions.Store(&file.Sanctions)
	return file, nil
}

// setSanctions writes a list, and has it count once it is safe. Files are held.
func (f *Folder) setSanctions(list []Sanction, next uint64) error {
	if list == nil {
		list = []Sanction{}
	}
	err := f.write(sanctionsName,
		sanctionFile{Version: sanctionVersion, Next: next, Sanctions: list})
	if err == nil {
		f.sanctions.Store(&list)
	}
	return err
}

// AddSanctions has sanctions count from now on, after a restart as well: all of them, or on an
// error none. It gives them as they are kept. One of the same kind of the same person takes the
// place of another; those that are over are forgotten.
func (f *Folder) AddSanctions(add ...Sanction) ([]Sanction, error) {
	release, err := f.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := f.readSanctions()
	if err != nil {
		return nil, err
	}
	now, next := f.now(), file.Next
	for i := range add {
		add[i].ID, add[i].Made = next, now.UTC().Truncate(time.Second)
		add[i].Until = add[i].Until.UTC().Truncate(time.Second)
		if err := add[i].check(); err != nil {
			return nil, err
		}
		next++
	}
	list := slices.DeleteFunc(slices.Clone(file.Sanctions), func(s Sanction) bool {
		return s.Over(now) || slices.ContainsFunc(add, func(n Sanction) bool {
			return n.Kind == s.Kind && n.Client == s.Client && n.Network == s.Network
		})
	})
	if len(list)+len(add) > mostSanctions {
		return nil, fmt.Errorf("there are %d bans and mutes: lift some, or ban networks", len(list))
	}
	return add, f.setSanctions(append(list, add...), next)
}

// Lift ends sanctions of a kind: that with a number, or all of an account or a network, as people
// write them. It gives those that it ended.
func (f *Folder) Lift(kind, which string) (gone []Sanction, err error) {
	release, err := f.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := f.readSanctions()
	if err != nil {
		return nil, err
	}
	now := f.now()
	network, _ := ParseNetwork(which)
	account := strings.TrimPrefix(which, "client:")
	kept := slices.DeleteFunc(slices.Clone(file.Sanctions), func(s Sanction) bool {
		if s.Kind != kind || s.Over(now) || which != fmt.Sprint(s.ID) &&
			(s.Client == 0 || account != fmt.Sprint(s.Client)) &&
			(!network.IsValid() || s.Network != network) {
			return false
		}
		gone = append(gone, s)
		return true
	})
	if len(gone) == 0 {
		return nil, fmt.Errorf("there is no %s with the number, account or network %.60q", kind,
			which)
	}
	return gone, f.setSanctions(kept, file.Next)
}

// Sanctions lists those that count now.
func (f *Folder) Sanctions() []Sanction {
	now := f.now()
	return slices.DeleteFunc(slices.Clone(*f.sanctions.Load()),
		func(s Sanction) bool { return s.Over(now) })
}

// Sanctioned finds a sanction of a kind that is of somebody, or gives nil. It waits for nothing.
func (f *Folder) Sanctioned(kind string, client uint64, from netip.Addr) *Sanction {
	list, now := *f.sanctions.Load(), f.now()
	for i := range list {
		if s := &list[i]; s.Kind == kind && s.of(client, from) && !s.Over(now) {
			found := *s
			return &found
		}
	}
	return nil
}

// Enforce adds bans and mutes to what a server's rules say: those who are banned are turned away at
// the door, newcomers and those who return alike, and nobody hears those who are muted.
func (f *Folder) Enforce(r *server.Rules) {
	admit, chat := r.Admit, r.Chat
	r.Admit = func(v server.Visitor) error {
		if s := f.Sanctioned(Ban, v.Client, v.Addr.Addr()); s != nil {
			return errors.New(s.text())
		}
		if admit != nil {
			return admit(v)
		}
		return nil
	}
	r.Chat = func(seat *server.Seat, line string) (string, error) {
		if s := f.Sanctioned(Mute, seat.Client, seat.Addr().Addr()); s != nil {
			return "", errors.New(s.text())
		}
		if chat != nil {
			return chat(seat, line)
		}
		return line, nil
	}
}

// ParseNetwork reads an address, or a network such as 10.0.0.0/8.
func ParseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return a.Prefix(a.BitLen())
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%.60q is neither an address nor a network, such as "+
			"203.0.113.7 or 2001:db8::/64", text)
	}
	return p.Masked(), nil
}
