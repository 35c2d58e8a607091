//go:build !js

// Package stores are the commands about databases that keep what outlives matches. A program has
// them if it was made with databases; see package service/store/database.
package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store/database"
)

const long = `Look after the database in which a game keeps what outlives its matches.

URL is sqlite:FILE, or just FILE, for a database of SQLite; or
postgres://USER@HOST/NAME for one of PostgreSQL, where ?search_path=SCHEMA names
a schema. A database holds the data of one game. "serve" makes what it needs in
an empty one by itself.`

const example = `  {program} store status game.db
  {program} store check postgres://game@db.example.net/game
  {program} store backup game.db game-monday.backup
  {program} store restore game-monday.backup new.db`

// A command is one of them.
type command struct {
	p    *cli.Program
	json bool
	game string
}

// Command is the command store.
func Command(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "store", Short: "Check, migrate, back up and restore what outlives matches",
		Long: long, Example: example,
	}
	cmd.AddCommand(
		status(p), check(p), migrate(p), backup(p), restore(p))
	return cmd
}

// verb makes one command.
func (c *command) verb(
	use, short, long, example string, args int, run func(ctx context.Context, args []string) (
		fmt.Stringer, error),
) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  {program} store " + example,
		Args: cobra.ExactArgs(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := run(cmd.Context(), args)
			if r != nil {
				err = errors.Join(cli.Print(cmd.OutOrStdout(), r, c.json), err)
			}
			return err
		},
	}
	cli.JSONFlag(cmd, &c.json)
	return cmd
}

// open opens a database that is there.
func open(ctx context.Context, url string) (database.Database, error) {
	return database.Open(ctx, url, database.Options{})
}

func status(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("status URL", "Say what is in a database",
		`Say which game a database is of, how many rows of which class it has, written
with which schema, and who may write.`, "status game.db", 1,
		func(ctx context.Context, args []string) (_ fmt.Stringer, err error) {
			db, err := open(ctx, args[0])
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			s, err := db.Status(ctx)
			if err != nil {
				return nil, err
			}
			return statusReport{s}, nil
		})
}

const checkLong = `Say what of a database this program would not load, before it is released.

Every row says with which schema it was written. Those are compared with what the
game of this program declares: fields that it has gained, lost, renamed, widened.
The exit code is 1 if rows would not load. Nothing is changed, and the game may run
meanwhile.`

func check(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("check URL", "Say what this program would not load", checkLong, "check game.db",
		1,
		func(ctx context.Context, args []string) (_ fmt.Stringer, err error) {
			db, err := open(ctx, args[0])
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			r, err := c.check(ctx, db)
			if err != nil {
				return nil, err
			}
			if r.Fatal > 0 {
				return r,
					fmt.Errorf("%d of the findings mean rows that would not load: say in the "+
						"class how they are read (see docs/kept.md)", r.Fatal)
			}
			return r, nil
		})
}

// check compares what is in a database with what the program declares.
func (c *command) check(ctx context.Context, db database.Database) (*checkReport, error) {
	s, err := db.Status(ctx)
	if err != nil {
		return nil, err
	}
	title, err := c.p.Title(s.Game)
	if err != nil {
		return nil, fmt.Errorf("the database is of the game %q: %w", s.Game, err)
	}
	schemas, err := db.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	found, err := kept.Check(title.Game, schemas)
	if err != nil {
		return nil, err
	}
	r := &checkReport{Game: s.Game, Rows: s.Rows, Schemas: len(schemas), Unknown: s.Unknown,
		Durable: s.Durable, Findings: []finding{}}
	rows := map[uint64]int64{}
	for _, class := range s.Classes {
		rows[class.Schema] += class.Rows
	}
	for _, f := range found {
		r.Findings = append(r.Findings, finding{f.Class, f.Field, f.Text, fmt.Sprintf("%016x",
			f.Schema),
			rows[f.Schema], f.Fatal})
		if f.Fatal && rows[f.Schema] > 0 {
			r.Fatal++
		}
	}
	if r.Unknown > 0 {
		r.Fatal++
	}
	return r, nil
}

func migrate(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	cmd := c.verb("migrate URL", "Bring a database up to date with this program",
		`Bring a database of an older version to that of this program, or make what a game
needs in an empty one. Each step is done as a whole or not at all. Make a backup
first: older programs cannot use it any more.`, "migrate game.db", 1,
		func(ctx context.Context, args []string) (_ fmt.Stringer, err error) {
			name := c.game
			if len(p.List) == 1 {
				name = cmp.Or(name, p.List[0].Name())
			}
			if name != "" {
				if _, err := p.Title(name); err != nil {
					return nil, cli.Usagef("--game: %w", err)
				}
			}
			db, err := database.Open(ctx, args[0], database.Options{Game: name, Migrate: true})
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			s, err := db.Status(ctx)
			if err != nil {
				return nil, err
			}
			return statusReport{s}, nil
		})
	cmd.Flags().StringVar(&c.game, "game", "", "the game whose data an empty database is to hold")
	return cmd
}

func backup(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("backup URL FILE", "Write all of a database into a file, while games use it",
		`Write what is in a database at one moment into a new file, while games go on using
it. The file is a database of SQLite, whichever the other is. It is read again
before it has its name; an interrupted backup leaves nothing.`,
		"backup game.db game-monday.backup", 2,
		func(ctx context.Context, args []string) (_ fmt.Stringer, err error) {
			db, err := open(ctx, args[0])
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			made, err := db.Backup(ctx, args[1])
			if err != nil {
				return nil, err
			}
			return copied{made}, nil
		})
}

func restore(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("restore FILE URL", "Fill an empty database from a backup",
		`Fill an empty database, of either kind, from a file that "store backup" wrote. All of
it is restored or nothing. A database that holds anything is refused.`,
		"restore game-monday.backup postgres://game@db.example.net/game", 2,
		func(ctx context.Context, args []string) (fmt.Stringer, error) {
			d := database.In()
			if d == nil {
				return nil, database.ErrNone
			}
			made, err := d.Restore(ctx, args[0], args[1])
			if err != nil {
				return nil, err
			}
			return copied{made}, nil
		})
}
