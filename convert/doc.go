// Package convert loads a world that another version of its game has saved: one whose classes and
// fields were gained, lost, renamed, widened or put into other steps since.
//
//	saved world ──┐
//	              ├── World ──> a world of this game, and a Report of what was done
//	its Declared ─┘             or an *Error with all that cannot be, by class and field
//
// A saved world is images: rows of integers, which mean nothing without what the game declared when
// it was saved (world.Declared, which is kept along with it). Fields are matched by their path in
// the struct. A field that was gained has the value of a new entity; one that was lost is left out;
// one with another range or other steps is read in the units of before and written in those of
// now. Identifiers follow their class to its new number. What cannot be meant is refused: a text
// that became a number, a value outside of its new range. All of it is listed at once.
//
// A class extends this by a method beside its Sync:
//
//	func (f *Fighter) Convert(r *convert.Rules) {
//		r.Class("Soldier")         // what Fighter was called
//		r.Renamed("HP", &f.Life)   // what Life was called
//		r.Clamp(&f.Ammo)           // more than there may be now becomes the most
//		convert.Then(r, func(f *Fighter, old convert.Values) error {
//			if !old.Has("Armour") { // it was saved before there was any
//				f.Armour = 50
//			}
//			return nil
//		})
//	}
//
// Rules stay as long as data of that age may come. Check says what would become of a version's
// worlds without having one: what a release is tried with.
//
// The package is pure and stands on world's row of the map.
package convert
