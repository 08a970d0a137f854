// Package copying fills a slave with a copy of another one's store.
//
// Source is the side that has the store: it makes a checkpoint, whose files are shared
// with the store by hard links, holds it as a lease for the one who asked, with the log
// of changes behind it, and hands out pieces of its files with their checksums. Fill is
// the side that wants it: it fetches what it lacks into a directory within its own,
// verifies each piece, reads the whole as a store, takes it out of all views, and makes
// it complete with one rename (rocks.Complete). Whoever opens the store next, the same
// process or another, finds the copy, at its position, and goes on from there.
//
// Nothing that Fill leaves behind is trusted: after a break, whatever broke, it asks for
// the checksums of the files that it has, and fetches the pieces that differ. So are
// files of an older copy used again.
//
// Goals: bounded memory, disk and time on both sides, whatever the other one does; no
// step after which a crash leaves more than files that the next start removes or uses.
// Non-goals: which slave copies from which, and when it serves (the balancer decides);
// secrecy: docs/decisions/016-copies.md says what an adversary can do.
package copying
