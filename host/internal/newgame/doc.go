// Package newgame makes modules for games of authors' own.
//
// What it writes are the games in the folder templates, which are programs of this repository: they
// are compiled, vetted and tested with it, so that what authors begin with works.
package newgame
