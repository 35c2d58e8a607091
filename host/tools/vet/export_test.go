package vet

// Report is what is printed as JSON.
type Report = report
