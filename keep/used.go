package keep

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/coeval-dev/coeval/conn/token"
)

// This file is the memory of used tokens, each of which lets in once at a server, also after a
// crash. It stands beside the chapters and has nothing to do with them: to go back to an older
// world, or to lose ticks, makes no token good again.

// Used are the tokens that have let someone in, as a folder has them.
type Used struct {
	// Marks are theirs, in the order in which they were written.
	Marks []token.Mark
	// Tokens and Tickets are up to when those that expire count as used, whatever Marks say.
	Tokens, Tickets int64
	// At is the latest Unix time that was written down. What expired by then has expired, also if
	// the clock was set back since.
	At int64
}

// The file is a beginning of usedHead bytes with so many marks, written as a whole, and the marks
// since then, in batches of which each was durable before the next was written. All of them have
// the same size, so that one that is not whole hides no other.
const (
	usedHead  = 48
	usedMark  = 44
	usedMagic = "coeval used "
	usedForm  = "1"
	// mostUsedFile bounds what is read: more than there can be of two kinds and as many again.
	mostUsedFile = usedHead + usedMark*8*MostMarks
	// MostMarks is how many tokens are remembered, and as many tickets. Where there are more,
	// those that expire first give way, and all that expire no later count as used.
	MostMarks = 1 << 17
	// usedSlack is how many may be added before the file is written anew, beside as many as there
	// were.
	usedSlack = 4096
)

// What a mark is of.
const (
	markToken  = 1
	markTicket = 2
	markTime   = 3 // none: the time, in place of an expiry
)

var le = binary.LittleEndian

// ReadUsed reads which tokens were used; of a folder that does not say, none. What a crash has left
// of the last batch is not read, as nobody was told that it is there.
func ReadUsed(d Disk) (*Used, error) {
	b, err := readAll(d, usedName, mostUsedFile+1)
	if errors.Is(err, fs.ErrNotExist) {
		return new(Used), nil
	}
	if err != nil {
		return nil, fmt.Errorf("keep: %s: %w", usedName, err)
	}
	u, err := parseUsed(b)
	if err != nil {
		return nil, fmt.Errorf("keep: the file %q: %w", usedName, err)
	}
	return u, nil
}

// usedAdvice is what to do about a file that is damaged.
const usedAdvice = "put a copy of the folder in its place; or remove the file, and tokens that " +
	"were used before let in once more until they expire"

func parseUsed(b []byte) (*Used, error) {
	first, _, ok := bytes.Cut(b[:min(len(b), 16)], []byte{'\n'})
	version, ours := bytes.CutPrefix(first, []byte(usedMagic))
	switch {
	case !ok || !ours || len(b) < usedHead || len(b) > mostUsedFile:
		return nil, fmt.Errorf("%w: it does not begin as one does; %s", ErrDamaged, usedAdvice)
	case string(version) != usedForm:
		return nil, fmt.Errorf("%w: it has format %q, and this program knows %s; serve with the "+
			"program that wrote it, or a newer one", ErrNewer, version, usedForm)
	}
	u := &Used{At: int64(le.Uint64(b[16:])), Tokens: int64(le.Uint64(b[24:])),
		Tickets: int64(le.Uint64(b[32:]))}
	whole := int(le.Uint32(b[40:]))
	if whole > (len(b)-usedHead)/usedMark ||
		sumUsed(b[:44], b[usedHead:usedHead+whole*usedMark]) != le.Uint32(b[44:]) {
		return nil, fmt.Errorf("%w: the checksum of its beginning is wrong; %s", ErrDamaged,
			usedAdvice)
	}
	return u, u.parseMarks(b[usedHead:], whole)
}

func sumUsed(head, marks []byte) uint32 { return sum(slices.Concat(head, marks)) }

// parseMarks reads marks. One that is not whole, and that stands before the last batch, is damage.
func (u *Used) parseMarks(b []byte, whole int) error {
	bad, last := -1, whole // the first that is not whole, and where the last batch begins
	for i := 0; (i+1)*usedMark <= len(b); i++ {
		m := b[i*usedMark:][:usedMark]
		batch := int(le.Uint32(m[4:]))
		if i < whole {
			batch = 0
		}
		if sum(m[:40]) != le.Uint32(m[40:]) || m[0] < markToken || m[0] > markTime || batch > i {
			if bad < 0 {
				bad = i
			}
			continue
		}
		last = max(last, batch)
		expires := int64(le.Uint64(m[32:]))
		if m[0] == markTime {
			u.At = max(u.At, expires)
			continue
		}
		mark := token.Mark{Client: le.Uint64(m[8:]), Expires: expires, Resumed: m[0] == markTicket}
		copy(mark.ID[:], m[16:])
		u.Marks = append(u.Marks, mark)
	}
	if bad >= 0 && bad < last {
		return fmt.Errorf("%w: at byte %d; %s", ErrDamaged, usedHead+bad*usedMark, usedAdvice)
	}
	return nil
}

// appendMark adds one mark of a batch that begins as the batchth since the file's beginning.
func appendMark(b []byte, kind byte, batch int, m *token.Mark) []byte {
	start := len(b)
	b = append(b, kind, 0, 0, 0)
	b = le.AppendUint32(b, uint32(batch))
	b = le.AppendUint64(b, m.Client)
	b = append(b, m.ID[:]...)
	b = le.AppendUint64(b, uint64(m.Expires))
	return le.AppendUint32(b, sum(b[start:]))
}

func markKind(m *token.Mark) byte {
	if m.Resumed {
		return markTicket
	}
	return markToken
}

// A UsedFile is what writes them. It may be used while another goroutine has the folder.
type UsedFile struct {
	disk   Disk
	used   Used
	file   File // nil if the file has to be written anew
	slots  int  // marks in it
	whole  int  // of those, at its beginning
	buffer []byte
}

// NewUsedFile makes one that goes on from what was read. Nothing is written yet.
func NewUsedFile(d Disk, u *Used) *UsedFile {
	f := &UsedFile{disk: d, used: *u}
	f.used.Marks = slices.Clone(u.Marks)
	return f
}

// Add writes that tokens were used, and that it is now so late. All of it is durable when Add
// returns without an error. After one nobody knows whether it is, and it has to be tried again;
// what was added before stays.
func (f *UsedFile) Add(now int64, marks []token.Mark) error {
	f.used.At = max(f.used.At, now)
	var err error
	if f.file == nil || f.slots+len(marks)+1 > 2*f.whole+usedSlack {
		err = f.rewrite(marks)
	} else {
		err = f.add(marks)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("keep: %s: %w", usedName, err)
	}
	return nil
}

// add adds a batch to the file.
func (f *UsedFile) add(marks []token.Mark) error {
	b := f.buffer[:0]
	for i := range marks {
		b = appendMark(b, markKind(&marks[i]), f.slots, &marks[i])
	}
	b = appendMark(b, markTime, f.slots, &token.Mark{Expires: f.used.At})
	f.buffer = b
	if _, err := f.file.Write(b); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.slots += len(b) / usedMark
	f.used.Marks = append(f.used.Marks, marks...)
	return nil
}

// rewrite writes the file anew, without what has expired.
func (f *UsedFile) rewrite(more []token.Mark) error {
	f.Close()
	f.used.forget(f.used.At)
	all := slices.Concat(f.used.Marks, more)
	b := make([]byte, usedHead, usedHead+len(all)*usedMark)
	copy(b, usedMagic+usedForm+"\n")
	le.PutUint64(b[16:], uint64(f.used.At))
	le.PutUint64(b[24:], uint64(f.used.Tokens))
	le.PutUint64(b[32:], uint64(f.used.Tickets))
	le.PutUint32(b[40:], uint32(len(all)))
	for i := range all {
		b = appendMark(b, markKind(&all[i]), 0, &all[i])
	}
	le.PutUint32(b[44:], sumUsed(b[:44], b[usedHead:]))
	if err := Install(f.disk, usedName, b); err != nil {
		return err
	}
	file, err := f.disk.Append(usedName)
	if err != nil {
		return err
	}
	f.file, f.slots, f.whole, f.used.Marks = file, len(all), len(all), all
	return nil
}

// forget drops what has expired, and what there is too much of.
func (u *Used) forget(now int64) {
	for _, kind := range []byte{markToken, markTicket} {
		floor := &u.Tokens
		if kind == markTicket {
			floor = &u.Tickets
		}
		var ends []int64
		for i := range u.Marks {
			if m := &u.Marks[i]; markKind(m) == kind && m.Expires > now {
				ends = append(ends, m.Expires)
			}
		}
		by := now
		if len(ends) > MostMarks {
			slices.Sort(ends)
			by = ends[len(ends)-MostMarks*7/8]
		}
		u.Marks = slices.DeleteFunc(u.Marks, func(m token.Mark) bool {
			gone := markKind(&m) == kind && m.Expires <= by
			if gone {
				*floor = max(*floor, m.Expires)
			}
			return gone
		})
	}
}

// Close ends it. What was added stays.
func (f *UsedFile) Close() {
	if f.file != nil {
		_ = f.file.Close() // what it holds is as it is
		f.file = nil
	}
}
