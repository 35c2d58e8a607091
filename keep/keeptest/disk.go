package keeptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
)

// Errors of the disk.
var (
	ErrKilled = errors.New("the machine is off")
	ErrFull   = errors.New("no space left")
	ErrFails  = errors.New("input/output error")
)

// Faults are what is wrong with a disk. The zero value is a good one.
type Faults struct {
	// Kill is after how many operations the machine goes off, in the middle of the next; 0 is
	// never.
	Kill int
	// Room is how many bytes there is room for; 0 is for all.
	Room int
	// Fail is how often an operation fails, and Lie how often a sync does nothing and says that it
	// has; of 1.
	Fail, Lie float64
	// Before is called before each operation, by name, and may wait. An error is the operation's.
	Before func(operation string) error
}

// A Disk is a folder in memory. All its methods may be called by any goroutine.
type Disk struct {
	Faults Faults

	mu   sync.Mutex
	rand *det.Rand
	ops  int
	off  bool

	names   map[string]*inode // as programs see them
	durable map[string]*inode // as the last sync left them
	pending []change          // since
}

// inode is what a name stands for.
type inode struct {
	data   []byte
	synced int
	lost   bool // a sync has failed, and no other makes durable what was written until then
}

// A change is one of names.
type change struct {
	name string
	to   *inode // nil: removed
	from string // that goes, if any
}

// New makes an empty disk.
func New(seed uint64) *Disk {
	r := det.At(seed, 77, 0)
	return &Disk{rand: &r, names: map[string]*inode{}, durable: map[string]*inode{}}
}

// begin is called at the beginning of each operation. partly says that it is the one in which the
// machine goes off.
func (d *Disk) begin(operation string) (partly bool, err error) {
	if d.Faults.Before != nil {
		if err := d.Faults.Before(operation); err != nil {
			d.mu.Lock()
			return false, err
		}
	}
	d.mu.Lock()
	if d.off {
		return false, ErrKilled
	}
	d.ops++
	if d.Faults.Kill > 0 && d.ops >= d.Faults.Kill {
		d.off = true
		return true, ErrKilled
	}
	if d.rand.Chance(d.Faults.Fail) {
		return d.rand.Chance(0.5), ErrFails
	}
	return false, nil
}

// Kill turns the machine off.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// Killed says that the machine is off.
func (d *Disk) Killed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// List is that of keep.Disk.
func (d *Disk) List() ([]string, error) {
	_, err := d.begin("list")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(d.names)), nil
}

// Open is that of keep.Disk.
func (d *Disk) Open(name string) (io.ReadCloser, error) {
	_, err := d.begin("open")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f := d.names[name]
	if f == nil {
		return nil, missing(name)
	}
	return io.NopCloser(bytes.NewReader(slices.Clone(f.data))), nil
}

func missing(name string) error { return fmt.Errorf("%s: %w", name, fs.ErrNotExist) }

// Create is that of keep.Disk.
func (d *Disk) Create(name string) (keep.File, error) {
	partly, err := d.begin("create")
	defer d.mu.Unlock()
	if err != nil && !partly {
		return nil, err
	}
	f := new(inode)
	d.change(change{name: name, to: f})
	return &file{d, f}, err
}

// Append is that of keep.Disk.
func (d *Disk) Append(name string) (keep.File, error) {
	_, err := d.begin("append")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if f := d.names[name]; f != nil {
		return &file{d, f}, nil
	}
	return nil, missing(name)
}

// Rename is that of keep.Disk.
func (d *Disk) Rename(from, to string) error {
	partly, err := d.begin("rename")
	defer d.mu.Unlock()
	if err != nil && !partly {
		return err
	}
	f := d.names[from]
	if f == nil {
		return missing(from)
	}
	d.change(change{name: to, to: f, from: from})
	return err
}

// Remove is that of keep.Disk.
func (d *Disk) Remove(name string) error {
	partly, err := d.begin("remove")
	defer d.mu.Unlock()
	if err != nil && !partly {
		return err
	}
	if d.names[name] == nil {
		return missing(name)
	}
	d.change(change{name: name})
	return err
}

// Sync is that of keep.Disk.
func (d *Disk) Sync() error {
	_, err := d.begin("sync folder")
	defer d.mu.Unlock()
	if err != nil || d.rand.Chance(d.Faults.Lie) {
		return err
	}
	d.durable, d.pending = maps.Clone(d.names), nil
	return nil
}

func (d *Disk) change(c change) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

func (c *change) apply(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to == nil {
		delete(names, c.name)
	} else {
		names[c.name] = c.to
	}
}

// Crash gives the disk as it is after the machine went off and on again: without faults, with all
// that was synced, and with a part of the rest.
func (d *Disk) Crash(seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	next := New(seed)
	names := maps.Clone(d.durable)
	for i := range d.rand.IntN(len(d.pending) + 1) {
		d.pending[i].apply(names)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		data := d.left(names[name])
		next.names[name] = &inode{data: data, synced: len(data)}
	}
	next.durable = maps.Clone(next.names)
	return next
}

// block is what a disk writes at once. Real ones have larger blocks, and tests smaller files.
const block = 16

// left is what a crash leaves of a file: all that was synced; of the rest a beginning, in which
// blocks may be missing that were to be written before others.
func (d *Disk) left(f *inode) []byte {
	out := slices.Clone(f.data[:f.synced])
	rest := f.data[f.synced:]
	switch d.rand.IntN(4) {
	case 0:
		return out
	case 1:
		return append(out, rest...)
	}
	rest = slices.Clone(rest[:d.rand.IntN(len(rest)+1)])
	if d.rand.Chance(0.5) {
		for i := 0; i < len(rest); i += block {
			if d.rand.Chance(0.2) {
				clear(rest[i:min(i+block, len(rest))])
			}
		}
	}
	return append(out, rest...)
}

// Damage changes a byte of a file, as a disk does over the years.
func (d *Disk) Damage(name string, at int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name].data[at] ^= 0x10
}

// Size is how many bytes a file has.
func (d *Disk) Size(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.names[name].data)
}

// Set puts a file there, and makes it durable.
func (d *Disk) Set(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &inode{data: slices.Clone(data), synced: len(data)}
	d.names[name], d.durable[name] = f, f
}

// Files is all that there is.
func (d *Disk) Files() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]string{}
	for name, f := range d.names {
		out[name] = string(f.data)
	}
	return out
}

// used is how much room is taken.
func (d *Disk) used() (n int) {
	for _, f := range d.names {
		n += len(f.data)
	}
	return n
}

// A file is one that is being written.
type file struct {
	disk *Disk
	node *inode
}

func (f *file) Write(p []byte) (int, error) {
	d := f.disk
	partly, err := d.begin("write")
	defer d.mu.Unlock()
	n := len(p)
	switch {
	case partly:
		n = d.rand.IntN(n + 1)
	case err != nil:
		return 0, err
	case d.Faults.Room > 0 && d.used()+n > d.Faults.Room:
		n, err = max(d.Faults.Room-d.used(), 0), ErrFull
	}
	f.node.data = append(f.node.data, p[:n]...)
	return n, err
}

func (f *file) Sync() error {
	d := f.disk
	_, err := d.begin("sync")
	defer d.mu.Unlock()
	if err != nil {
		f.node.lost = true // a system that has said so once does not say it again
		return err
	}
	if !f.node.lost && !d.rand.Chance(d.Faults.Lie) {
		f.node.synced = len(f.node.data)
	}
	return nil
}

func (f *file) Close() error {
	_, err := f.disk.begin("close")
	f.disk.mu.Unlock()
	return err
}
