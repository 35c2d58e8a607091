package entry

import (
	"encoding/json"
	"syscall/js"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/client"
)

// A Sender sends data to a server in one piece, such as a client.Session.
type Sender interface {
	Upload(name string, data []byte) error
	Uploading() (name string, arrived, size int, ok bool)
}

// OfferUploads has the page offer its player to send files, of the kinds that a title names. Where
// it names none, nothing is offered. Tell what becomes of them by Sent; see web/assets/upload.js.
func OfferUploads(kinds []game.Upload, s Sender) {
	offer := js.Global().Get("coevalOffer")
	if len(kinds) == 0 || offer.Type() != js.TypeFunction {
		return
	}
	type kind struct {
		Name string `json:"name"`
		Most int    `json:"most"`
	}
	list := make([]kind, len(kinds))
	for i := range kinds {
		list[i] = kind{kinds[i].Name, kinds[i].Most}
	}
	text, _ := json.Marshal(list) // it has nothing that cannot be written
	offer.Invoke(string(text),
		js.FuncOf(func(_ js.Value, args []js.Value) any {
			data := make([]byte, args[1].Get("length").Int())
			js.CopyBytesToGo(data, args[1])
			if err := s.Upload(args[0].String(), data); err != nil {
				return err.Error()
			}
			return ""
		}),
		js.FuncOf(func(js.Value, []js.Value) any {
			_, arrived, size, ok := s.Uploading()
			if !ok {
				return nil
			}
			return map[string]any{"arrived": arrived, "size": size}
		}))
}

// Sent tells the page what became of files, which a view's Uploads say.
func Sent(list []client.Uploaded) {
	for _, u := range list {
		why := ""
		if u.Err != nil {
			why = u.Err.Error()
		}
		js.Global().Call("coevalSent", u.Name, why)
	}
}
