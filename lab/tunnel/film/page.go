package film

// HTML is a page.
func (r *Result) HTML() ([]byte, error) { return nil, nil }
