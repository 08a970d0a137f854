// Package store defines the key-value store that counters need: get, list by prefix, and one
// atomic batch of compare-and-puts, conditional deletes and checks. A single compare-and-put or
// conditional delete is a batch of one.
//
// Get and compare-and-put are not enough: a compactor that folds one part into another must
// delete the first and put the second at once, or a crash between the two would lose or double a
// count.
//
// Stores: memory, sqlite and postgres below this package; storetest is the conformance suite that
// all of them pass. Goals: few calls, which many databases can offer and which need no clock.
// Non-goals: queries, large values, long transactions.
package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"

	"adshard/fault"
)

// Item is a key and its value.
type Item struct {
	Key   string
	Value []byte
	// Version is the version of the batch that wrote the value, or 0 if the key does not exist.
	// A key never has the same version twice, not even if it was deleted in between.
	Version uint64
}

// Action is what a change does to its key.
type Action uint8

// The actions. Each succeeds only if the key has the version of the Change.
const (
	Put    Action = iota // write the value; with version 0, the key must not exist
	Delete               // remove the key
	Check                // fail unless the key keeps this version until the batch has been made
)

// Change is one part of a batch.
type Change struct {
	Action  Action
	Key     string
	Version uint64
	Value   []byte // only for Put
}

// Store is a key-value store. It is safe for use by several goroutines, and by several processes
// unless the implementation says otherwise. Calls are linearizable: each takes effect at one
// moment between its start and its return.
type Store interface {
	// Get returns the item of a key, or an item of version 0 if there is none.
	Get(ctx context.Context, key string) (Item, error)
	// List returns the items whose keys begin with a prefix, in the order of the keys' bytes, as
	// they were at one moment. It returns at most limit items, or all if limit is 0.
	List(ctx context.Context, prefix string, limit int) ([]Item, error)
	// Apply makes all changes at one moment, or none of them. It returns the version of the items
	// that it put.
	//
	// Errors: fault.Conflict if a key had another version, and fault.Invalid if Validate rejects
	// the batch; in both cases nothing was written, and nothing will be. After any other error,
	// including that of ctx, the outcome is unknown: the batch may have been made, or may be made
	// later.
	Apply(ctx context.Context, changes ...Change) (version uint64, err error)
}

// Limits of Apply.
const (
	MaxChanges = 1000
	MaxKey     = 1 << 10
	MaxValue   = 1 << 20
)

// Validate returns an error of kind fault.Invalid if a batch is not valid. Implementations call
// it first.
func Validate(changes []Change) error {
	if len(changes) == 0 || len(changes) > MaxChanges {
		return fault.Newf(fault.Invalid, "store: apply", "%d changes: 1 to %d", len(changes), MaxChanges)
	}
	seen := make(map[string]bool, len(changes))
	for i := range changes {
		switch c := &changes[i]; {
		case c.Action > Check:
			return fault.Newf(fault.Invalid, "store: apply", "action %d: Put, Delete or Check", c.Action)
		case c.Key == "" || len(c.Key) > MaxKey:
			return fault.Newf(fault.Invalid, "store: apply", "a key of %d bytes: 1 to %d", len(c.Key), MaxKey)
		case len(c.Value) > MaxValue:
			return fault.Newf(fault.Invalid, "store: apply", "key %q: %d bytes, more than %d", c.Key, len(c.Value), MaxValue)
		case c.Version == 0 && c.Action != Put:
			return fault.Newf(fault.Invalid, "store: apply", "key %q: only a Put may be of a key that does not exist", c.Key)
		case seen[c.Key]:
			return fault.Newf(fault.Invalid, "store: apply", "key %q is there twice", c.Key)
		default:
			seen[c.Key] = true
		}
	}
	return nil
}

// Conflict returns the error for a change whose key has another version.
func Conflict(c *Change) error {
	return fault.Newf(fault.Conflict, "store: apply", "key %q has a different version than %d", c.Key, c.Version)
}

// NewVersion returns a version that was never used before: 63 random bits. A counter would repeat
// versions after a store was restored from a backup.
func NewVersion() uint64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if v := binary.NativeEndian.Uint64(b[:]) >> 1; v != 0 {
			return v
		}
	}
}

// InOrder returns the changes in the order of their keys. Stores that lock rows lock them in this
// order, so that two batches never deadlock.
func InOrder(changes []Change) []Change {
	return slices.SortedFunc(slices.Values(changes), func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
}

// End returns the least key that is above all keys with a prefix, or "" if there is none.
func End(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}
