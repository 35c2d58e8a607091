package game

import (
	"fmt"
	"hash/fnv"

	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/world"
)

// An Upload is a kind of data that a player's client may send to its server in one piece, beside
// the game and with what that leaves of the connection: a spray, a replay, a level of one's own. It
// takes one line in a title:
//
//	Uploads: []game.Upload{{Name: "spray", Most: 16 << 10, Take: hang}},
//
// and is sent by client.Client.Upload, or by "join --send spray=FILE".
type Upload struct {
	// Name has at most MaxUploadName bytes.
	Name string
	// Most is how many bytes one may have, up to MaxUpload.
	Most int
	// Take is given what has come, all of it, and may put something about it among the world's
	// inputs, such as by world.TellMessage: so it is in recordings, and on all mirrors. It is
	// called between ticks, and must not change the world. From is world.Nobody for one who
	// watches. The data may be anything. An error refuses it, and its text is told to the player.
	// Without Take any data is taken, for Rules.Uploaded of package server to keep.
	Take func(w *world.World, from world.Player, data []byte, in *world.Inputs) error
}

// Bounds of uploads.
const (
	MaxUploads    = 16
	MaxUploadName = 32
	MaxUpload     = 64 << 20
)

// Tag is the number by which an upload goes over the connection. It follows from the name alone, so
// that programs that have other uploads as well understand each other.
func (u *Upload) Tag() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(u.Name)) // a hash takes all
	return h.Sum32()
}

// Upload finds one by its name, or is nil.
func (t *Title) Upload(name string) *Upload {
	for i := range t.Uploads {
		if t.Uploads[i].Name == name {
			return &t.Uploads[i]
		}
	}
	return nil
}

// UploadOf finds an upload by its tag, or is nil.
func (t *Title) UploadOf(tag uint32) *Upload {
	for i := range t.Uploads {
		if t.Uploads[i].Tag() == tag {
			return &t.Uploads[i]
		}
	}
	return nil
}

// MostUpload is how many bytes the largest upload may have, or 0 where there is none.
func (t *Title) MostUpload() (most int) {
	for i := range t.Uploads {
		most = max(most, t.Uploads[i].Most)
	}
	return most
}

// checkUploads says what is wrong with them.
func (t *Title) checkUploads() (wrong []error) {
	if n := len(t.Uploads); n > MaxUploads {
		wrong = append(wrong, fmt.Errorf("there are %d Uploads; a title may have %d", n,
			MaxUploads))
	}
	seen := map[uint32]bool{}
	for i := range t.Uploads {
		u := &t.Uploads[i]
		if u.Name == "" || query.Clean(u.Name, MaxUploadName) != u.Name || seen[u.Tag()] {
			wrong = append(wrong, fmt.Errorf("an upload is called %.40q; choose a name of 1 to %d "+
				"bytes that no other has", u.Name, MaxUploadName))
		}
		if seen[u.Tag()] = true; u.Most < 1 || u.Most > MaxUpload {
			wrong = append(wrong, fmt.Errorf("upload %.40q may have %d bytes; set Most to 1 up to "+
				"%d", u.Name, u.Most, MaxUpload))
		}
	}
	return wrong
}
