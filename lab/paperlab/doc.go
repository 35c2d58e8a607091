// Package paperlab runs experiments of the literature again, on any title: what was published
// stands beside what is measured here, and the result says what differs and why.
//
//	host/tools/lab      {program} lab paper
//	lab/paperlab        experiments of papers      <- here
//	lab/tunnel, ...     what they are run on
//
// An Experiment is a name, a source and a function that makes a Finding: tables of texts with
// remarks. Run does those that are asked for; Markdown writes them as docs/evidence.md has them, so
// that what the page claims a command prints. All is in virtual time, and the same seed gives the
// same finding but for processor times.
package paperlab
