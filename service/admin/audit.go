package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// An Entry is a line of the audit log: who did what, when, and what came of it. The names are for
// other programs and stay.
type Entry struct {
	At    time.Time `json:"at"`
	Who   string    `json:"who"`             // the token's name, or where nobody is known "-"
	Token string    `json:"token,omitempty"` // its ID
	Role  string    `json:"role,omitempty"`
	From  string    `json:"from,omitempty"` // the address
	What  string    `json:"what"`           // such as "POST kick"
	// With is what was asked for, as JSON; files stand there by their size and hash.
	With json.RawMessage `json:"with,omitempty"`
	// Result is "asked" before something is done that an operator asked for, and then, as for all
	// else, "ok" or what was wrong.
	Result string `json:"result"`
}

// mostWith bounds what is kept of a request.
const mostWith = 4 << 10

// Log adds an entry to the audit log. With durable it is safe from a crash of the machine when this
// returns. The file is opened for each, so that it may be moved away at any time.
func (f *Folder) Log(e Entry, durable bool) (err error) {
	if len(e.With) > 0 && (len(e.With) > mostWith || !json.Valid(e.With)) {
		e.With = json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, len(e.With)))
	}
	e.At = f.now().UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	release, err := f.hold()
	if err != nil {
		return err
	}
	defer release()
	_, statErr := os.Stat(f.at(auditName))
	file, err := os.OpenFile(f.at(auditName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if torn(file) { // a crash has left a part of a line, which is to stay one of its own
		line = append([]byte{'\n'}, line...)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		err = syncFolder(f.dir)
	}
	return errors.Join(err, file.Sync())
}

// torn says whether a file does not end with a line's end.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Logged gives the last entries of the audit log, at most so many, oldest first. Lines that a crash
// has torn are left out.
func (f *Folder) Logged(most int) ([]Entry, error) {
	file, err := os.Open(f.at(auditName))
	if errors.Is(err, fs.ErrNotExist) {
		return []Entry{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const tail = 4 << 20 // of the file; an entry has a few hundred bytes
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-tail, 0)
	data, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return nil, err
	}
	return lastEntries(data, most), nil
}

// lastEntries reads the last lines that are whole.
func lastEntries(data []byte, most int) []Entry {
	lines := bytes.Split(data, []byte{'\n'})
	out := []Entry{}
	for i := len(lines) - 1; i >= 0 && len(out) < most; i-- {
		var e Entry
		if len(lines[i]) > 0 && json.Unmarshal(lines[i], &e) == nil && e.What != "" {
			out = append(out, e)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
