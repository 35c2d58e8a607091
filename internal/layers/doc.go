// Package layers holds the project to its map: which package may import
// which, which heavy dependency may be reached from where, and which packages
// stay pure (no goroutine, clock, socket or randomness of their own).
//
// The map is text, in map.go, and reads like the one in docs/architecture.md;
// a test keeps the two equal. Whoever adds a package places it there first.
//
//	tree, err := layers.Load(os.DirFS(root))
//	for _, f := range layers.Current().Check(tree) {
//		fmt.Println(f) // conn/send.go:12: time.Now in a pure package: take the time as an argument
//	}
//
// Only source text is read, so files for every platform are held to the map,
// not just those that compile here. Test files are free: they may look upwards
// and use the clock.
package layers
