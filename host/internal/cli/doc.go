// Package cli is what the commands of a program share: errors that point to --help, a bar that
// shows progress, files that appear only when they are whole, and networks by their names.
//
// It stands below package host and its tools, and no one else's programs see it.
package cli
