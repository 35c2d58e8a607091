package federation

import "github.com/coeval-dev/coeval/federation"

// A Notice is what a federate is told, with names in place of numbers.
type Notice struct {
	Notice      string            `json:"notice"`
	Object      uint32            `json:"object,omitempty"`
	Class       string            `json:"class,omitempty"`
	Interaction string            `json:"interaction,omitempty"`
	Name        string            `json:"name,omitempty"`
	From        uint32            `json:"from,omitempty"`
	Order       string            `json:"order,omitempty"`
	Time        *int64            `json:"time,omitempty"`
	Retraction  uint64            `json:"retraction,omitempty"`
	Tag         []byte            `json:"tag,omitempty"`
	Why         string            `json:"why,omitempty"`
	Values      map[string][]byte `json:"values,omitempty"`
	Attributes  []string          `json:"attributes,omitempty"`
	Failed      []string          `json:"failed,omitempty"`
	OK          bool              `json:"ok,omitempty"`
}

// tell makes a notice of the machine's one that can be kept.
func (s *seat) tell(n *federation.Notice) Notice {
	m := s.x.Model()
	out := Notice{Notice: n.Kind.String(), Object: uint32(n.Object), Name: n.Name,
		From: uint32(n.From), Retraction: uint64(n.Retraction), Tag: n.Tag,
		Attributes: s.names(n.Attributes), Failed: n.Failed, OK: n.OK}
	if n.Stamped {
		t := int64(n.Time)
		out.Time = &t
	}
	if n.Object != 0 {
		out.Class = m.Classes[n.Class].Name
	}
	switch n.Kind {
	case federation.Reflected, federation.Removed:
		out.Order = n.Order.String()
	case federation.Interacted:
		out.Order = n.Order.String()
		out.Interaction = m.Interactions[n.Interaction].Name
	case federation.Left, federation.Out, federation.Waited:
		out.Why, out.Tag = string(n.Tag), nil
	}
	if len(n.Values)+len(n.Arguments) > 0 {
		out.Values = map[string][]byte{}
	}
	for _, v := range n.Values {
		out.Values[m.Attributes[v.Attribute].Name] = v.Data
	}
	for _, a := range n.Arguments {
		out.Values[m.Parameters[a.Parameter]] = a.Data
	}
	return out
}
