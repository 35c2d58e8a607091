package member_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
)

// The member that a multicast's packet came from is the mirror whose command it carries.
func ExampleID() {
	var sender member.ID = crimp.Member{ID: 3}.ID
	fmt.Println("a command of mirror", timeline.Command{Origin: sender}.Origin)
	// Output: a command of mirror 3
}
