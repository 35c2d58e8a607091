//go:build !js

package bench

import (
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/feellab"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// judged are the flags of what measures how shots are judged: in which styles, and in whose favour.
type judged struct{ styles, favour string }

// list describes the flags.
func (j *judged) list() []*lab.Option {
	return []*lab.Option{
		lab.Text(&j.styles, "style", "",
			"the styles to try, such as doom3,quake3 (default: all that the game can be tried in)"),
		lab.Text(&j.favour, "favour", "",
			"whose screen counts where shots are judged: shooter, victim, both or present "+
				"(default: as the game says)"),
	}
}

// parse reads them.
func (j *judged) parse(styles *[]predict.Style, favour *world.Favour) (err error) {
	if *styles, err = feellab.ParseStyles(j.styles); err != nil {
		return cli.Usagef("--style: %v", err)
	}
	if *favour, err = feellab.ParseFavour(j.favour); err != nil {
		return cli.Usagef("--favour: %v", err)
	}
	return nil
}
