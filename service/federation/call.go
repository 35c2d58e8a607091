package federation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/federation"
)

// A Call is what a federate asks for. Only what its kind needs is set; names stand for numbers, and
// values are bytes, in base64.
type Call struct {
	// ID comes back in the reply. Without one there is none unless something is wrong.
	ID          uint64                `json:"id,omitempty"`
	Call        string                `json:"call"`
	Federation  string                `json:"federation,omitempty"`
	Name        string                `json:"name,omitempty"`
	Names       []string              `json:"names,omitempty"`
	Model       *federation.ModelFile `json:"model,omitempty"`
	Class       string                `json:"class,omitempty"`
	Interaction string                `json:"interaction,omitempty"`
	Object      uint32                `json:"object,omitempty"`
	Attributes  []string              `json:"attributes,omitempty"`
	Values      map[string][]byte     `json:"values,omitempty"`
	Tag         []byte                `json:"tag,omitempty"`
	Time        *int64                `json:"time,omitempty"`
	Lookahead   int64                 `json:"lookahead,omitempty"`
	Retraction  uint64                `json:"retraction,omitempty"`
	Dimensions  []string              `json:"dimensions,omitempty"`
	Region      uint32                `json:"region,omitempty"`
	Regions     []uint32              `json:"regions,omitempty"`
	Ranges      map[string][2]int64   `json:"ranges,omitempty"`
	// Interval is the least time between two reflections of an object, in seconds.
	Interval float64 `json:"interval,omitempty"`
	// How is how to resign: some of divest, delete and cancel. Empty is all.
	How []string `json:"how,omitempty"`
	// Failed says of achieve and saved that it did not succeed.
	Failed bool `json:"failed,omitempty"`
}

// A Reply is what came of a call.
type Reply struct {
	Reply      uint64   `json:"reply"`
	Error      string   `json:"error,omitempty"`
	Federate   uint32   `json:"federate,omitempty"`
	Object     uint32   `json:"object,omitempty"`
	Region     uint32   `json:"region,omitempty"`
	Owner      uint32   `json:"owner,omitempty"`
	Retraction uint64   `json:"retraction,omitempty"`
	Time       *int64   `json:"time,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
	// Limit is, of the call time, the time that nobody else can undercut; none is Never.
	Limit *int64 `json:"limit,omitempty"`
}

var errJoin = errors.New("join a federation first")

// services are the calls of a federate that has joined.
var services = map[string]func(*seat, *Call, *Reply) error{
	"resign": func(s *seat, c *Call, _ *Reply) error {
		how, err := resignation(c.How)
		if err != nil {
			return err
		}
		return s.f.Resign(how)
	},
	"extend": func(s *seat, c *Call, _ *Reply) error {
		if c.Model == nil {
			return errors.New("what to add is missing: model")
		}
		return s.x.Extend(c.Model)
	},
	"publish": func(s *seat, c *Call, _ *Reply) error {
		if c.Interaction != "" {
			return s.act(c, s.f.PublishInteraction)
		}
		return s.declared(c, s.f.Publish)
	},
	"unpublish": func(s *seat, c *Call, _ *Reply) error {
		if c.Interaction != "" {
			return s.act(c, s.f.UnpublishInteraction)
		}
		return s.declared(c, s.f.Unpublish)
	},
	"subscribe":   (*seat).subscribe,
	"unsubscribe": (*seat).unsubscribe,
	"reserve":     func(s *seat, c *Call, _ *Reply) error { return s.f.ReserveName(c.Name) },
	"release":     func(s *seat, c *Call, _ *Reply) error { return s.f.ReleaseName(c.Name) },
	"register": func(s *seat, c *Call, r *Reply) error {
		class, err := s.class(c.Class)
		if err != nil {
			return err
		}
		id, err := s.f.Register(class, c.Name)
		r.Object = uint32(id)
		return err
	},
	"update": (*seat).update,
	"send":   (*seat).send,
	"delete": func(s *seat, c *Call, r *Reply) error {
		number, err := s.f.Delete(federation.ObjectID(c.Object), c.sending())
		r.Retraction = uint64(number)
		return err
	},
	"forget": func(s *seat, c *Call, _ *Reply) error {
		return s.f.Forget(federation.ObjectID(c.Object))
	},
	"request": (*seat).request,
	"retract": func(s *seat, c *Call, _ *Reply) error {
		return s.f.Retract(federation.Retraction(c.Retraction))
	},

	"owner": func(s *seat, c *Call, r *Reply) error {
		list, err := s.attributesOf(c)
		if err != nil || len(list) != 1 {
			return cmp.Or(err, errors.New("one attribute at a time"))
		}
		id, err := s.f.OwnerOf(federation.ObjectID(c.Object), list[0])
		r.Owner = uint32(id)
		return err
	},
	"divest": func(s *seat, c *Call, _ *Reply) error { return s.tagged(c, s.f.Divest) },
	"offer":  func(s *seat, c *Call, _ *Reply) error { return s.tagged(c, s.f.Offer) },
	"acquire": func(s *seat, c *Call, _ *Reply) error {
		return s.tagged(c, s.f.Acquire)
	},
	"confirm":     func(s *seat, c *Call, _ *Reply) error { return s.owned(c, s.f.Confirm) },
	"cancelOffer": func(s *seat, c *Call, _ *Reply) error { return s.owned(c, s.f.CancelOffer) },
	"acquireIfAvailable": func(s *seat, c *Call, _ *Reply) error {
		return s.owned(c, s.f.AcquireIfAvailable)
	},
	"cancelAcquire": func(s *seat, c *Call, _ *Reply) error {
		return s.owned(c, s.f.CancelAcquire)
	},
	"refuse": func(s *seat, c *Call, _ *Reply) error { return s.owned(c, s.f.Refuse) },
	"giveUp": func(s *seat, c *Call, r *Reply) error {
		list, err := s.attributesOf(c)
		if err != nil {
			return err
		}
		given, err := s.f.Release(federation.ObjectID(c.Object), list...)
		r.Attributes = s.names(given)
		return err
	},

	"regulate": func(s *seat, c *Call, _ *Reply) error {
		return s.f.EnableRegulation(federation.Time(c.Lookahead))
	},
	"stopRegulating": func(s *seat, _ *Call, _ *Reply) error { return s.f.DisableRegulation() },
	"constrain":      func(s *seat, _ *Call, _ *Reply) error { return s.f.EnableConstraint() },
	"stopConstraint": func(s *seat, _ *Call, _ *Reply) error { return s.f.DisableConstraint() },
	"lookahead": func(s *seat, c *Call, _ *Reply) error {
		return s.f.SetLookahead(federation.Time(c.Lookahead))
	},
	"advance": func(s *seat, c *Call, _ *Reply) error { return s.timed(c, s.f.AdvanceTo) },
	"advanceAvailable": func(s *seat, c *Call, _ *Reply) error {
		return s.timed(c, s.f.AdvanceToAvailable)
	},
	"next": func(s *seat, c *Call, _ *Reply) error { return s.timed(c, s.f.AdvanceToNext) },
	"nextAvailable": func(s *seat, c *Call, _ *Reply) error {
		return s.timed(c, s.f.AdvanceToNextAvailable)
	},
	"flush": func(s *seat, c *Call, _ *Reply) error { return s.timed(c, s.f.Flush) },
	"time": func(s *seat, _ *Call, r *Reply) error {
		now, limit := int64(s.f.Now()), int64(s.f.Limit())
		r.Time = &now
		if limit != int64(federation.Never) {
			r.Limit = &limit
		}
		return nil
	},

	"createRegion": (*seat).createRegion,
	"setRegion":    func(s *seat, c *Call, _ *Reply) error { return s.setRanges(c) },
	"deleteRegion": func(s *seat, c *Call, _ *Reply) error {
		return s.f.DeleteRegion(federation.RegionID(c.Region))
	},
	"associate": func(s *seat, c *Call, _ *Reply) error { return s.placed(c, s.f.Associate) },
	"dissociate": func(s *seat, c *Call, _ *Reply) error {
		return s.placed(c, s.f.Dissociate)
	},

	"registerPoint": func(s *seat, c *Call, _ *Reply) error {
		return s.f.RegisterPoint(c.Name, c.Tag, c.Names...)
	},
	"achieve": func(s *seat, c *Call, _ *Reply) error { return s.f.Achieve(c.Name, !c.Failed) },
	"save": func(s *seat, c *Call, _ *Reply) error {
		if c.Time != nil {
			return s.f.RequestSaveAt(c.Name, federation.Time(*c.Time))
		}
		return s.f.RequestSave(c.Name)
	},
	"restore": func(s *seat, c *Call, _ *Reply) error { return s.f.RequestRestore(c.Name) },
	"saved":   func(s *seat, c *Call, _ *Reply) error { return s.f.Saved(!c.Failed) },
}

func resignation(how []string) (r federation.Resignation, err error) {
	if len(how) == 0 {
		return federation.DeleteThenDivest, nil
	}
	for _, h := range how {
		switch h {
		case "divest":
			r |= federation.Divest
		case "delete":
			r |= federation.Delete
		case "cancel":
			r |= federation.Cancel
		default:
			return 0, fmt.Errorf("resign by divest, delete or cancel, not %.80q", h)
		}
	}
	return r, nil
}

// sending is how a call is sent.
func (c *Call) sending() federation.Sending {
	how := federation.Sending{Tag: c.Tag}
	if c.Time != nil {
		how.Stamped, how.Time = true, federation.Time(*c.Time)
	}
	for _, r := range c.Regions {
		how.Regions = append(how.Regions, federation.RegionID(r))
	}
	return how
}

func (s *seat) class(name string) (federation.ClassID, error) {
	c, ok := s.x.Model().Class(name)
	if !ok {
		return 0, fmt.Errorf("there is no class %.80q", name)
	}
	return c, nil
}

// attributes are the numbers of attributes of a class.
func (s *seat) attributes(c federation.ClassID, names []string) ([]federation.AttributeID, error) {
	m := s.x.Model()
	list := make([]federation.AttributeID, 0, len(names))
	for _, name := range names {
		a, ok := m.Attribute(c, name)
		if !ok {
			return nil, fmt.Errorf("class %q has no attribute %.80q", m.Classes[c].Name, name)
		}
		list = append(list, a)
	}
	return list, nil
}

// attributesOf are the numbers of attributes of the object that a call is about.
func (s *seat) attributesOf(c *Call) ([]federation.AttributeID, error) {
	class, ok := s.f.ClassOf(federation.ObjectID(c.Object))
	if !ok {
		return nil, fmt.Errorf("object %d is not known", c.Object)
	}
	return s.attributes(class, c.Attributes)
}

func (s *seat) names(list []federation.AttributeID) (names []string) {
	for _, a := range list {
		names = append(names, s.x.Model().Attributes[a].Name)
	}
	return names
}

func (s *seat) act(c *Call, do func(federation.InteractionID) error) error {
	i, ok := s.x.Model().Interaction(c.Interaction)
	if !ok {
		return fmt.Errorf("there is no interaction %.80q", c.Interaction)
	}
	return do(i)
}

func (s *seat) declared(c *Call,
	do func(federation.ClassID, ...federation.AttributeID) error) error {
	class, err := s.class(c.Class)
	if err != nil {
		return err
	}
	list, err := s.attributes(class, c.Attributes)
	if err != nil {
		return err
	}
	return do(class, list...)
}

func (s *seat) tagged(c *Call,
	do func(federation.ObjectID, []byte, ...federation.AttributeID) error) error {
	list, err := s.attributesOf(c)
	if err != nil {
		return err
	}
	return do(federation.ObjectID(c.Object), c.Tag, list...)
}

func (s *seat) owned(c *Call,
	do func(federation.ObjectID, ...federation.AttributeID) error) error {
	list, err := s.attributesOf(c)
	if err != nil {
		return err
	}
	return do(federation.ObjectID(c.Object), list...)
}

func (s *seat) placed(c *Call, do func(federation.ObjectID, federation.RegionID,
	...federation.AttributeID) error) error {
	list, err := s.attributesOf(c)
	if err != nil {
		return err
	}
	return do(federation.ObjectID(c.Object), federation.RegionID(c.Region), list...)
}

func (s *seat) timed(c *Call, do func(federation.Time) error) error {
	if c.Time == nil {
		return errors.New("which time is missing: time")
	}
	return do(federation.Time(*c.Time))
}

func (s *seat) regions(c *Call) (list []federation.RegionID) {
	for _, r := range c.Regions {
		list = append(list, federation.RegionID(r))
	}
	return list
}

func (s *seat) subscribe(c *Call, _ *Reply) error {
	regions := s.regions(c)
	if c.Interaction != "" {
		return s.act(c, func(i federation.InteractionID) error {
			return s.f.SubscribeInteraction(i, regions...)
		})
	}
	if c.Interval < 0 || c.Interval > 3600 {
		return errors.New("an interval is from 0 to 3600 seconds")
	}
	return s.declared(c, func(class federation.ClassID, list ...federation.AttributeID) error {
		return s.f.Subscribe(class, federation.Subscribing{Regions: regions,
			Interval: time.Duration(c.Interval * float64(time.Second))}, list...)
	})
}

func (s *seat) unsubscribe(c *Call, _ *Reply) error {
	regions := s.regions(c)
	if c.Interaction != "" {
		return s.act(c, func(i federation.InteractionID) error {
			return s.f.UnsubscribeInteraction(i, regions...)
		})
	}
	return s.declared(c, func(class federation.ClassID, list ...federation.AttributeID) error {
		return s.f.Unsubscribe(class, regions, list...)
	})
}

func (s *seat) update(c *Call, r *Reply) error {
	class, ok := s.f.ClassOf(federation.ObjectID(c.Object))
	if !ok {
		return fmt.Errorf("object %d is not known", c.Object)
	}
	m := s.x.Model()
	values := make([]federation.Value, 0, len(c.Values))
	for name, data := range c.Values {
		a, ok := m.Attribute(class, name)
		if !ok {
			return fmt.Errorf("class %q has no attribute %.80q", m.Classes[class].Name, name)
		}
		values = append(values, federation.Value{Attribute: a, Data: data})
	}
	slices.SortFunc(values, func(a, b federation.Value) int {
		return int(a.Attribute) - int(b.Attribute)
	})
	number, err := s.f.Update(federation.ObjectID(c.Object), values, c.sending())
	r.Retraction = uint64(number)
	return err
}

func (s *seat) send(c *Call, r *Reply) error {
	m := s.x.Model()
	i, ok := m.Interaction(c.Interaction)
	if !ok {
		return fmt.Errorf("there is no interaction %.80q", c.Interaction)
	}
	args := make([]federation.Argument, 0, len(c.Values))
	for name, data := range c.Values {
		p, ok := m.Parameter(i, name)
		if !ok {
			return fmt.Errorf("interaction %q has no parameter %.80q", c.Interaction, name)
		}
		args = append(args, federation.Argument{Parameter: p, Data: data})
	}
	slices.SortFunc(args, func(a, b federation.Argument) int {
		return int(a.Parameter) - int(b.Parameter)
	})
	number, err := s.f.Send(i, args, c.sending())
	r.Retraction = uint64(number)
	return err
}

func (s *seat) request(c *Call, _ *Reply) error {
	if c.Object == 0 {
		return s.declared(c, func(class federation.ClassID, l ...federation.AttributeID) error {
			return s.f.RequestClass(class, c.Tag, l...)
		})
	}
	return s.tagged(c, s.f.Request)
}

func (s *seat) createRegion(c *Call, r *Reply) error {
	m := s.x.Model()
	var dims []federation.DimensionID
	names := c.Dimensions
	for name := range c.Ranges {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d, ok := m.Dimension(name)
		if !ok {
			return fmt.Errorf("there is no dimension %.80q", name)
		}
		dims = append(dims, d)
	}
	id, err := s.f.CreateRegion(dims...)
	if err != nil {
		return err
	}
	c.Region, r.Region = uint32(id), uint32(id)
	if err := s.setRanges(c); err != nil {
		r.Region = 0
		return errors.Join(err, s.f.DeleteRegion(id))
	}
	return nil
}

// setRanges changes a region and commits it.
func (s *seat) setRanges(c *Call) error {
	id := federation.RegionID(c.Region)
	for name, to := range c.Ranges {
		d, ok := s.x.Model().Dimension(name)
		if !ok {
			return fmt.Errorf("there is no dimension %.80q", name)
		}
		if err := s.f.SetRange(id, d, federation.Range{Lo: to[0], Hi: to[1]}); err != nil {
			return err
		}
	}
	return s.f.Commit(id)
}
