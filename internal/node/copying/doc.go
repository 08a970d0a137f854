// Package copying fills a slave with a copy of another one's store.
//
// Source is the side that has the store: it makes a checkpoint, whose files are shared with the
// store by hard links, holds it and the log of changes after it under a lease, and serves
// pieces of its files with checksums. Fill is the other side: it fetches what is missing into a
// directory within its own, verifies each piece, reads the whole as a store, takes it out of
// all views, and completes it with one rename (rocks.Complete). The next process that opens the
// store finds the copy at its position, and continues from there.
//
// Nothing that an interrupted Fill leaves behind is trusted: the next one asks for the
// checksums of the files that are there, and fetches the pieces that differ. Files of an
// older copy are reused in the same way.
//
// Goals: bounded memory, disk and time on both sides, whatever the peer does; a crash at
// any step leaves only files that the next start removes or uses. Non-goals: which slave
// copies from which, and when it serves (the balancer decides); secrecy:
// docs/decisions/016-copies.md says what an adversary can do.
package copying
