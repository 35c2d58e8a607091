// Package starter starts game servers by a command of the operator's, for matches for which no
// server has room. It implements directory.Starter.
//
//	coevald directory --start-command 'coeval serve $LOBBY_GAME --listen :0 --key servers.key'
//
// The command has in its environment what the match needs:
//
//	LOBBY_GAME, LOBBY_LEVEL, LOBBY_VERSION   what is to be played; the level may be empty
//	LOBBY_ROOM                               the code of the room; empty for a match of a queue
//	LOBBY_PLAYERS                            how many come
//	LOBBY_TAG                                the tag by which the server must register
//	LOBBY_PAGE                               true if somebody plays in a browser, or false
//	COEVAL_TAG, COEVAL_DIRECTORY             so that coeval serve does, without flags
//	COEVAL_PAGE                              true for browsers, so that coeval serve has a page
//
// It may be the server itself, or hand over to something else and end with exit status 0. Nothing
// else named COEVAL_ is handed on: that is the directory's own.
package starter
