package scene

import "github.com/coeval-dev/coeval/topology/client"

// A Blind is a test that the player takes without knowing what is tested.
type Blind = client.Blind

// A Tally is how a style fared in it.
type Tally = client.Tally
