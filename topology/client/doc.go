// Package client is one player's end of a game that a server runs.
package client
