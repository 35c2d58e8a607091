package directory_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/service/directory"
)

// TestDescribed: the description has what is answered, and nothing else; and one that lacks
// something, or has more, is found.
func TestDescribed(t *testing.T) {
	for _, wrong := range described(t, directory.OpenAPI()) {
		t.Error(wrong)
	}
	for name, change := range map[string]*strings.Replacer{
		"a path that is not":     strings.NewReplacer("/goodbye\"", "/farewell\""),
		"a method that is not":   strings.NewReplacer("\"post\": {", "\"put\": {"),
		"a field that is not":    strings.NewReplacer("\"capacity\": {", "\"seats\": {"),
		"a type that is another": strings.NewReplacer("\"integer\"", "\"number\""),
		"what is always there":   strings.NewReplacer("\"required\": [", "\"needed\": ["),
	} {
		text := change.Replace(string(directory.OpenAPI()))
		if text == string(directory.OpenAPI()) || len(described(t, []byte(text))) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// described is how a description differs from what is answered.
func described(t *testing.T, text []byte) (out []string) {
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	var doc struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Required   []string                  `json:"required"`
				Properties map[string]map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(text, &doc))
	n := 0
	for _, methods := range doc.Paths {
		n += len(methods)
	}
	for _, r := range directory.Routes() {
		if doc.Paths[directory.Path+r[1]][strings.ToLower(r[0])] == nil {
			wrong("%s %s is not described", r[0], r[1])
		}
		n--
	}
	if n != 0 {
		wrong("%d are described that there are not", n)
	}
	for name, v := range map[string]any{
		"Addresses": directory.Addresses{}, "Announcement": directory.Announcement{},
		"Registered": directory.Registered{}, "Alive": directory.Alive{},
		"Goodbye": directory.Goodbye{}, "Entry": directory.Entry{}, "Place": directory.Place{},
		"TokenAnswer": directory.TokenAnswer{},
	} {
		schema := doc.Components.Schemas[name]
		typ := reflect.TypeOf(v)
		if typ.NumField() != len(schema.Properties) {
			wrong("%s has %d fields, and %d are described", name, typ.NumField(),
				len(schema.Properties))
		}
		for i := range typ.NumField() {
			tag, option, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if schema.Properties[tag] == nil {
				wrong("%s.%s is not described", name, tag)
			}
			if (option == "") != slices.Contains(schema.Required, tag) {
				wrong("%s.%s: whether it is always there is described wrongly", name, tag)
			}
			kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer",
				reflect.Int64: "integer", reflect.Slice: "array", reflect.Bool: "boolean",
				reflect.Map: "object"}
			if want := kinds[typ.Field(i).Type.Kind()]; want != "" &&
				schema.Properties[tag]["type"] != want {
				wrong("%s.%s is %v, and described as %v", name, tag, want,
					schema.Properties[tag]["type"])
			}
		}
	}
	return out
}
