package cli

import (
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
)

// Settings are flags that all commands have that serve: where further settings are, which level,
// and how to log.
type Settings struct {
	config        string
	level         LevelFlags
	log, logLevel string
	json          bool
}

// Flags adds the flags. Those of the level say when they are given.
func (s *Settings) Flags(cmd *cobra.Command, when string) {
	s.LogFlags(cmd)
	s.level.Flags(cmd, when, 0)
}

// LogFlags adds those of them that are of no level, for what runs no game.
func (s *Settings) LogFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.config, "config", "", "file of settings, lines of name = value")
	f.StringVar(&s.log, "log", "text", "how to log, to standard error: text or json")
	f.StringVar(&s.logLevel, "log-level", "info", "what to log: debug, info, warn or error")
}

// LogArguments are those by which another process of this program logs in the same way.
func (s *Settings) LogArguments() []string {
	return []string{"--log", s.log, "--log-level", s.logLevel}
}

// JSON adds --json, for --log json.
func (s *Settings) JSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.json, "json", false, "the same as --log json")
}

// Fill takes settings from wherever the command line does not give them.
func (s *Settings) Fill(cmd *cobra.Command) error {
	return Configure(cmd.Flags(), s.config, os.LookupEnv)
}

// Level is the level that was named.
func (s *Settings) Level(t *game.Title) (game.Level, error) { return s.level.Read(t) }

// Logger logs as was asked for.
func (s *Settings) Logger(out io.Writer) (*slog.Logger, error) {
	if s.json {
		s.log = "json"
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, Usagef(
			"--log-level is %q: it must be debug, info, warn or error", s.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch s.log {
	case "text":
		return slog.New(slog.NewTextHandler(out, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, o)), nil
	}
	return nil, Usagef("--log is %q: it must be text or json", s.log)
}
