package demo

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// freeze puts a page to sleep, as browsers do with pages that no one looks at, or wakes it.
func freeze(b *tab, on bool) {
	b.t.Helper()
	state := page.SetWebLifecycleStateStateActive
	if on {
		state = page.SetWebLifecycleStateStateFrozen
	}
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.SetWebLifecycleState,
			page.SetWebLifecycleStateParams{State: state})
		return err
	}))
}
