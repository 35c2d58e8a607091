package keep

import "io"

// A Disk is one folder of a file system, without folders inside.
//
// What it is relied on for is what every file system does: what was written to a file is there
// after a crash if Sync of the file has returned without an error, a name is there if Sync of the
// folder has; and a rename happens wholly or not at all.
type Disk interface {
	// List gives the names of all files.
	List() ([]string, error)
	// Open opens a file to be read from its beginning.
	Open(name string) (io.ReadCloser, error)
	// Create makes an empty file, in place of one of that name.
	Create(name string) (File, error)
	// Append opens a file to be written at its end.
	Append(name string) (File, error)
	// Rename gives a file another name, in place of one that has it.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// Sync makes the names durable.
	Sync() error
}

// A File is written at its end.
type File interface {
	io.Writer
	// Sync makes what was written durable.
	Sync() error
	Close() error
}
