//go:build !js

package clusters

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// access is who gives an order, where operators have tokens, and where it is written down what they
// do.
type access struct {
	dir, token string
}

func (a *access) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.dir, "admin-dir", "", "folder in which it is written down who had what done, and "+
		"that says who may, from: {program} admin token make")
	f.StringVar(&a.token, "token-file", "", "with --admin-dir, file with your token; its role has to "+
		"be operate")
}

// allow looks whether somebody may give an order, and writes down that it is given. What it gives
// is to be told what came of it.
func (a *access) allow(x *seamless.Order) (told func(error) error, err error) {
	if a.dir == "" {
		if a.token != "" {
			return nil, cli.Usagef("--token-file says who you are to the folder --admin-dir: give both")
		}
		return func(err error) error { return err }, nil
	}
	folder, err := admin.OpenFolder(a.dir)
	if err != nil {
		return nil, err
	}
	if a.token == "" {
		return nil, cli.Usagef("--token-file is needed with --admin-dir; make a token with: {program} "+
			"admin token make --dir %s --role operate --name NAME --out FILE", a.dir)
	}
	text, err := cli.ReadSecret(a.token)
	if err != nil {
		return nil, err
	}
	secret, err := admin.ParseSecret(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.token, err)
	}
	t, err := folder.Holder(secret)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	e := admin.Entry{Who: t.Name, Token: t.ID, Role: t.Role.String(), What: "cluster " +
		string(x.Kind), With: data, Result: "asked"}
	if t.Role < admin.Operate {
		e.Result = "refused"
		if err := folder.Log(e, true); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the token of %s is to %s, and this takes operate", t.Name, t.Role)
	}
	x.By = t.Name
	return func(err error) error {
		if e.Result = "ok"; err != nil {
			e.Result = err.Error()
		}
		if lost := folder.Log(e, true); err == nil {
			return lost
		}
		return err
	}, folder.Log(e, true)
}
