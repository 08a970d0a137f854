package kv

import "context"

// Family is a column family: a separate key space that can be written in one atomic batch with the others.
type Family uint8

// The families. docs/format.md describes their keys and values.
const (
	Postings Family = iota // blocks of matching data by term, ring key, keyword
	Items                  // group records and pages of keywords by ring key
	Parents                // campaign and advertiser records
	Terms                  // document frequencies by term
	Meta                   // versions, position, slices, counters
)

// Families is the number of families.
const Families = 5

var familyNames = [...]string{"postings", "items", "parents", "terms", "meta"}

// String returns the family's name on disk.
func (f Family) String() string { return familyNames[f] }

// PrefixLen returns the length of the prefix shared by all keys that are looked for together, or 0 if there is no such prefix. No key of
// the family is shorter.
func (f Family) PrefixLen() int {
	switch f {
	case Postings, Items:
		return 8
	}
	return 0
}

// DB is an ordered key-value store with families. Reads go through snapshots. There is one writer at a time; snapshots may be used concurrently.
type DB interface {
	// Snapshot returns a view of the batches written so far. It must be closed before the DB.
	Snapshot() Snapshot
	// Write applies all of a batch or nothing. If it returns fault.NoSpace, nothing was written and a later call may succeed.
	Write(*Batch) error
	// Failed reports whether a Write has failed such that only Reopen helps. Reads still work.
	Failed() bool
	// Ready returns nil if Reopen can succeed, or fault.NoSpace while the disk is full.
	Ready() error
	// Reopen closes and opens the DB. All snapshots must be closed. If it returns an error, only Reopen and Close may be called.
	Reopen() error
	// Compact rewrites the files into the best order for reading, until ctx ends. It may run at the same time as reads and writes but not
	// as Reopen and Close. It may also do nothing.
	Compact(ctx context.Context)
	// Unverified reports whether the DB was opened after an unclean end and Verified has not been called since. Unless the machine failed,
	// its files then have everything that was confirmed to the writer, but the data have not been compared with their source.
	Unverified() bool
	// Verified records durably that the data have been compared with their source. It must not run at the same time as Write, Reopen or
	// Close.
	Verified() error
	// DiskBytes returns the total size of the files, or 0 if there are none.
	DiskBytes() uint64
	// Memory returns the memory that the DB itself uses.
	Memory() Memory
	// Statistics returns the counts that the DB keeps.
	Statistics() Statistics
	Close() error
}

// Memory is a DB's use of memory in bytes, without decoded values.
type Memory struct {
	// Cache is the part of its files that is cached as read. Buffers has what was written and is not in files yet. Tables are the indexes
	// and filters of files.
	Cache, Buffers, Tables uint64
}

// Statistics are a DB's activity since it was opened and its pending work.
type Statistics struct {
	// Counted reports whether the DB counts what it does. If not, the counts up to StalledMicros are 0.
	Counted bool
	// CacheHits and CacheMisses count reads of blocks that were, or were not, in the cache.
	CacheHits, CacheMisses uint64
	// FlushedBytes were written to new files. CompactedRead and CompactedWritten were read and written to merge files.
	FlushedBytes, CompactedRead, CompactedWritten uint64
	// StalledMicros is how long flushes and compactions made writes wait.
	StalledMicros uint64
	// Flushes and Compactions are the numbers under way. PendingBytes is about what compactions have yet to read. Level0Files is the number
	// of new files, which every read must look at.
	Flushes, Compactions, PendingBytes, Level0Files uint64
	// WritesDelayed means that writes are slowed down so that flushes or compactions can catch up, WritesStopped that they wait until these
	// have caught up.
	WritesDelayed, WritesStopped bool
}

// Snapshot reads one state of a DB.
type Snapshot interface {
	// Get appends the value of a key to dst. It returns false if there is none.
	Get(f Family, key, dst []byte) ([]byte, bool, error)
	// Prefix returns an iterator over the keys that share their first PrefixLen bytes with the key last sought. Full returns an iterator
	// over all keys.
	Prefix(f Family) Iterator
	Full(f Family) Iterator
	// Close releases the snapshot. Its iterators must be closed first.
	Close()
}

// Iterator moves over the keys of one family. Each move returns false at the end or on an error. The bytes it returns are valid until the
// next move and must not be changed.
type Iterator interface {
	// Seek moves to the first key at or after the given one.
	Seek(key []byte) bool
	// SeekBack moves to the last key at or before the given one.
	SeekBack(key []byte) bool
	Next() bool
	Key() []byte
	Value() []byte
	Err() error
	// Close ends the use of the iterator. The snapshot may reuse it.
	Close()
}

// Recreator is a DB that can be emptied together with its files.
type Recreator interface {
	// Recreate empties the DB, whatever the state of its files. All snapshots must be closed. After
	// an error only Recreate, Reopen and Close may be called.
	Recreate() error
	// Present returns fault.NotFound if the open files are no longer in their directory.
	Present() error
}

// Checkpointer is a DB that can be copied while it is open.
type Checkpointer interface {
	// Checkpoint makes dir, which must not exist, a DB with the present content. It shares files that never change. It must not run at the
	// same time as Write, Reopen or Close. Errors: fault.NoSpace, fault.Conflict if dir exists.
	Checkpoint(dir string) error
}
