package paperlab

import (
	"context"

	"github.com/coeval-dev/coeval/lab"
)

func trailing(context.Context, *Options, lab.Progress) (*Finding, error) { return new(Finding), nil }
func events(context.Context, *Options, lab.Progress) (*Finding, error)   { return new(Finding), nil }
