// Package copying fills a slave with a copy of another slave's store.
//
// Source is the side that has the store. It makes a checkpoint, whose files are shared with the
// store by hard links. It holds the checkpoint and the log of changes after it under a lease, and
// serves pieces of the files with checksums. Fill is the other side. It fetches the missing pieces
// into a directory within its own, verifies each piece, and reads the whole as a store. Then it
// takes the copy out of all views and completes it with one rename (rocks.Complete). The next
// process that opens the store finds the copy at its position and continues from there.
//
// Fill trusts nothing that an interrupted Fill left behind: it asks for the checksums of the files
// that exist, and fetches the pieces that differ. It reuses files of an older copy in the same way.
//
// Goals: bounded memory, disk and time on both sides, whatever the peer does; a crash at any step
// leaves only files that the next start removes or uses. Non-goals: which slave copies from which,
// and when it serves (the balancer decides); secrecy: docs/decisions/016-copies.md says what an
// adversary can do.
package copying
