// Package traces is the commands that look into recordings: trace, and desync.
package traces
