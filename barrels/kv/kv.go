package kv

import "context"

// Family is a column family: a key space of its own, in one atomic batch with
// the others.
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

// PrefixLen is the fixed length of the prefix that all keys looked for
// together share; 0: no such prefix. No key of the family is shorter.
func (f Family) PrefixLen() int {
	switch f {
	case Postings, Items:
		return 8
	}
	return 0
}

// DB is an ordered key-value store with families. Reads go through snapshots. There is one writer at a time; snapshots may be used concurrently.
type DB interface {
	// Snapshot returns a view of the batches written so far. It must be closed
	// before the DB is.
	Snapshot() Snapshot
	// Write applies a batch whole or not at all. fault.NoSpace: nothing was
	// written; a later call may succeed.
	Write(*Batch) error
	// Failed reports whether a Write failed so that only Reopen helps. Reads still work.
	Failed() bool
	// Ready returns nil when Reopen can succeed, fault.NoSpace while the disk is
	// full.
	Ready() error
	// Reopen closes and opens the DB. All snapshots must be closed. After an
	// error nothing but Reopen and Close may be called.
	Reopen() error
	// Compact rewrites the files into the order that is best for reading, until ctx
	// ends. It may run beside reads and writes but not beside Reopen and Close,
	// and may do nothing.
	Compact(ctx context.Context)
	// Unverified reports whether the DB was opened after an unclean end, and Verified was not
	// called since. Its files then show nothing missing that was confirmed to the writer, unless
	// the machine failed; but the data have not been compared with their source.
	Unverified() bool
	// Verified records durably that the data have been compared with their source. It must not run
	// beside Write, Reopen or Close.
	Verified() error
	// DiskBytes is the total size of the files; 0: there are none.
	DiskBytes() uint64
	// Memory is the DB's own use of memory.
	Memory() Memory
	// Statistics are the DB's counts, as far as it keeps them.
	Statistics() Statistics
	Close() error
}

// Memory is a DB's use of memory in bytes, decoded values excluded.
type Memory struct {
	// Cache is the part of its files kept as read, Buffers what was written and is
	// not yet in files, Tables the indexes and filters of files.
	Cache, Buffers, Tables uint64
}

// Statistics are a DB's activity since it was opened, and its pending work.
type Statistics struct {
	// Counted: the DB counts what it does; else the counts up to StalledMicros are 0.
	Counted bool
	// CacheHits and CacheMisses count reads of blocks that were in the cache or not.
	CacheHits, CacheMisses uint64
	// FlushedBytes were written to new files, CompactedRead and CompactedWritten read and
	// written to merge files.
	FlushedBytes, CompactedRead, CompactedWritten uint64
	// StalledMicros is how long flushes and compactions made writes wait.
	StalledMicros uint64
	// Flushes and Compactions are under way; PendingBytes is about what compactions have
	// yet to read; Level0Files are new files, which each read looks at.
	Flushes, Compactions, PendingBytes, Level0Files uint64
	// WritesDelayed: writes are slowed down so that flushes or compactions catch up;
	// WritesStopped: none goes on until they have.
	WritesDelayed, WritesStopped bool
}

// Snapshot reads one state of a DB.
type Snapshot interface {
	// Get appends the value of a key to dst; false: there is none.
	Get(f Family, key, dst []byte) ([]byte, bool, error)
	// Prefix returns an iterator over the keys that share their first
	// PrefixLen bytes with the key last sought. Full returns one over all keys.
	Prefix(f Family) Iterator
	Full(f Family) Iterator
	// Close releases the snapshot; its iterators must be closed before.
	Close()
}

// Iterator moves over the keys of one family. Each move returns false at the
// end or on an error. Bytes it returns are valid until the next move and must
// not be written to.
type Iterator interface {
	// Seek moves to the first key at or after key.
	Seek(key []byte) bool
	// SeekBack moves to the last key at or before key.
	SeekBack(key []byte) bool
	Next() bool
	Key() []byte
	Value() []byte
	Err() error
	// Close ends the iterator's use; the snapshot may reuse it.
	Close()
}

// Recreator is a DB that can be emptied with all its files.
type Recreator interface {
	// Recreate empties the DB, whatever the state of its files. All snapshots must be closed. After
	// an error only Recreate, Reopen and Close may be called.
	Recreate() error
	// Present returns fault.NotFound when the open files are no longer in their directory.
	Present() error
}

// Checkpointer is a DB that can be copied while it is open.
type Checkpointer interface {
	// Checkpoint makes dir, which must not exist, a DB with the present content. Files
	// that never change are shared. It must not run beside Write, Reopen or Close.
	// Errors: fault.NoSpace, fault.Conflict when dir exists.
	Checkpoint(dir string) error
}
