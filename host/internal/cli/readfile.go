package cli

import (
	"fmt"
	"io"
	"os"
)

// ReadFile reads a file that may come from anyone: no more of it than so many bytes, whatever it
// is. A larger one is refused.
func ReadFile(name string, most int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadUpTo(f, name, most)
}

// ReadUpTo is ReadFile for a file that is open already.
func ReadUpTo(f io.Reader, name string, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return data, err
}
