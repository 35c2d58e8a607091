// Package zonetest runs machines of package zone in virtual time against a map, journals, a store
// and links with faults, from one seed, and has package audit read what the journals say.
package zonetest
