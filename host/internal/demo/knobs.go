//go:build !js

package demo

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/topology/architecture"
)

// chooseWay has peers play in the style of the settings, if there are any.
func (d *flags) chooseWay(cmd *cobra.Command, rows bool) error {
	if !cmd.Flags().Changed("style") && d.knobs.Given() {
		d.style = "rollback"
	}
	return d.knobs.Choose(cmd, "style", &d.style, func(a string) (string, bool) {
		w, ok := peer.WayOf(a)
		return w.Style, ok && w.Rows == rows && w.Style != "doom"
	})
}

// tune reads what knobs are set to, for what the command line has the demo show, and sets those of
// the title.
func (d *flags) tune(cmd *cobra.Command) (err error) {
	if !d.knobs.Given() {
		return nil
	}
	switch {
	case d.mirrors != nil:
		m := d.mirrors
		if err := d.knobs.Choose(cmd, "timeline", &m.timeline, mirrors.TimelineOf); err != nil {
			return err
		}
		d.values, err = d.knobs.Values(cmd, d.title, mirrors.Architecture(m.timeline),
			append(mirrors.Knobs(m.timeline), d.title.Settable()...))
	case d.peers != nil:
		err = d.tunePeers(cmd)
	default:
		err = d.knobs.Choose(cmd, "architecture", &d.architecture,
			func(a string) (string, bool) {
				_, err := architecture.Parse(a)
				return a, err == nil
			})
		if err != nil {
			return err
		}
		k, wrong := architecture.Parse(cmp.Or(d.architecture, "coeval"))
		if wrong != nil {
			return cli.Usagef("--architecture: %w", wrong)
		}
		d.values, err = d.knobs.Values(cmd, d.title, k.Name, append(k.Knobs(),
			d.title.Settable()...))
	}
	if err != nil {
		return err
	}
	d.title, err = d.title.With(d.values)
	return err
}

// tunePeers sets how peers play.
func (d *flags) tunePeers(cmd *cobra.Command) (err error) {
	p := d.peers
	way := peer.WayBy(p.way, p.relay)
	if d.values, err = d.knobs.Values(cmd, d.title, way.Name, knob.List(way.Knobs())); err != nil {
		return err
	}
	p.set.Style = p.style
	err = knob.Apply(&p.set, way.Knobs(), d.values)
	p.style = p.set.Style
	return err
}
