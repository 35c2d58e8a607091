// Package stack is a pile of boxes that tumble, in the plane: the heavy case of a deterministic
// game. Hundreds of bodies touch each other, a contact solver goes over them again and again, and
// the least difference between two machines would grow to a different pile in seconds.
//
//	coeval play stack                 drive into the pile
//	coeval play stack --check         try it for determinism
//
// As one solver moves every box, it is also the example of a game that cannot be divided among
// servers; docs/borders.md says more.
//
// stack.go has the classes, collide.go finds what touches, solve.go keeps it apart. The solver is a
// state that steps after all boxes, and its working memory shows how a class keeps something that
// is not part of the world: a derived field with a CopyFrom that leaves it alone.
package stack
