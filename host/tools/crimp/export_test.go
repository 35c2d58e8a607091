package crimp

// Report is what is printed each second, and at the end.
type Report = report
