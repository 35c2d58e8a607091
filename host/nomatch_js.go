//go:build !coevalmatch

package host

import "errors"

// meet is for programs with the build tag coevalmatch, without which they are smaller.
func (p *Program) meet() error {
	return errors.New("this page plays in matches at a relay, and its program was built for " +
		"servers alone: build it with the tag coevalmatch, as peer host --page does")
}
