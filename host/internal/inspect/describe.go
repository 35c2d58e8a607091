//go:build !js

package inspect

import (
	"reflect"
	"strings"
	"time"
)

// describe makes the description of the API, by OpenAPI 3.1, of the routes and the types that they
// answer.
func describe() map[string]any {
	d := describer{schemas: map[string]any{}}
	paths := map[string]any{}
	for _, r := range routes {
		params := []any{}
		for _, p := range r.params {
			params = append(params, map[string]any{"name": p.name, "in": "query",
				"description": p.about, "required": p.needed,
				"schema": map[string]any{"type": p.kind}})
		}
		content := map[string]any{}
		if r.answer != nil {
			content["schema"] = d.schema(reflect.TypeOf(r.answer))
		}
		paths[Path+r.name] = map[string]any{"get": map[string]any{
			"summary": r.about, "operationId": strings.TrimSuffix(r.name, ".json"),
			"parameters": params,
			"responses": map[string]any{
				"200": map[string]any{"description": r.about,
					"content": map[string]any{r.kind: content}},
				"default": map[string]any{"description": "what is wrong, in the field error"},
			},
		}}
	}
	d.schema(reflect.TypeFor[State]()) // also that of events
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "coeval inspect", "version": "1",
			"description": "A game while it runs. An event of the path events has a State as data."},
		"paths": paths, "components": map[string]any{"schemas": d.schemas},
	}
}

type describer struct{ schemas map[string]any }

// schema describes a type; structs by reference.
func (d *describer) schema(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return d.schema(t.Elem())
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": d.schema(t.Elem())}
	case t.Kind() == reflect.Struct:
		d.object(t)
		return map[string]any{"$ref": "#/components/schemas/" + t.Name()}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

func (d *describer) object(t reflect.Type) {
	if d.schemas[t.Name()] != nil {
		return
	}
	fields, needed := map[string]any{}, []string{}
	d.schemas[t.Name()] = map[string]any{} // a type may hold itself
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s := d.schema(f.Type)
		if options == "string" {
			s = map[string]any{"type": "string"}
		}
		if fields[name] = s; options != "omitempty" {
			needed = append(needed, name)
		}
	}
	d.schemas[t.Name()] = map[string]any{"type": "object", "properties": fields,
		"required": needed, "additionalProperties": false}
}
