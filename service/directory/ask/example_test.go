package ask_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/coeval-dev/coeval/service/directory/ask"
)

func Example() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"entries":[{"id":"1f","game":"pong","name":"Friday night"}]}`)
	}))
	defer s.Close()
	c, err := ask.New(s.URL, nil)
	if err != nil {
		panic(err)
	}
	list, err := c.Entries(context.Background(), ask.Filter{Game: "pong", Room: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(list[0].Name)
	// Output: Friday night
}
