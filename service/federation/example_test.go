package federation_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	core "github.com/coeval-dev/coeval/federation"
	"github.com/coeval-dev/coeval/service/federation"
)

// A server, and a federate that registers an object.
func Example() {
	s, err := federation.New(federation.Options{})
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()
	defer s.Close()

	ctx := context.Background()
	c, err := federation.Dial(ctx, "ws"+strings.TrimPrefix(web.URL, "http"), "")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	model := &core.ModelFile{Classes: []core.ClassFile{{Name: "train"}}}
	for _, call := range []federation.Call{
		{Call: "join", Federation: "rails", Name: "trains", Model: model},
		{Call: "publish", Class: "train"},
		{Call: "register", Class: "train", Name: "express"},
	} {
		r, err := c.Call(ctx, call)
		fmt.Println(call.Call, r.Object, err)
	}
	// Output:
	// join 0 <nil>
	// publish 0 <nil>
	// register 1 <nil>
}
