package counters

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"adshard/counters/store"
	"adshard/fault"
)

// id names an update.
type id [16]byte

func newID() (i id) {
	rand.Read(i[:]) // never fails
	return i
}

func (i id) String() string { return hex.EncodeToString(i[:]) }

// record is a part of a counter as it is stored: the head, a shard or a row.
type record struct {
	// Format is that of all records of a counter; only the head has it.
	Format int `json:"format,omitempty"`
	// Shards is how many there are; only the head has it.
	Shards int `json:"shards,omitempty"`
	// Epoch is the number of the last Set before the part; a part of another epoch than the head's
	// does not count.
	Epoch uint64          `json:"epoch,omitempty"`
	Value json.RawMessage `json:"value"`
	// Puts is the number of ids recorded, of which Recent has the last.
	Puts   uint64 `json:"puts"`
	Recent []byte `json:"recent,omitempty"`
	// Conflicts is how many puts of updates failed before those that were made.
	Conflicts uint64 `json:"conflicts,omitempty"`
}

const (
	format = 1
	// How many ids a shard and the head keep: the number of updates of the shard, or of folded
	// parts, that may happen while an update is being settled.
	keptByShard, keptByHead = 16, 1024
)

// addIDs adds ids, and forgets the oldest. Copies of the record keep theirs.
func (r *record) addIDs(keep int, ids ...byte) {
	r.Puts += uint64(len(ids) / len(id{}))
	r.Recent = slices.Concat(r.Recent, ids)
	if over := len(r.Recent) - keep*len(id{}); over > 0 {
		r.Recent = r.Recent[over:]
	}
}

// has reports whether an id is among the last.
func (r *record) has(i id) bool {
	for at := 0; at+len(i) <= len(r.Recent); at += len(i) {
		if bytes.Equal(r.Recent[at:at+len(i)], i[:]) {
			return true
		}
	}
	return false
}

// knows reports whether all ids recorded since the record had a number of puts are still there.
func (r *record) knows(puts uint64) bool {
	return r.Puts >= puts && r.Puts-puts <= uint64(len(r.Recent)/len(id{}))
}

func (r *record) encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("counters: encode a record: %v", err)) // Value is JSON already
	}
	return b
}

func readRecord(it store.Item) (*record, error) {
	r := new(record)
	if err := json.Unmarshal(it.Value, r); err != nil {
		return nil, fault.Newf(fault.Corrupt, "counters: read", "the stored part %q: %w", it.Key, err)
	}
	return r, nil
}

// head is the record of a counter as it was read.
type head struct {
	record
	version uint64
}

func readHead(it store.Item) (*head, error) {
	r, err := readRecord(it)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Format != format:
		return nil, fault.Newf(fault.Version, "counters: read", "%q has format %d of counters, this program knows %d", it.Key, r.Format, format)
	case r.Shards < 1 || r.Shards > MaxShards:
		return nil, fault.Newf(fault.Corrupt, "counters: read", "%q has %d shards", it.Key, r.Shards)
	}
	return &head{*r, it.Version}, nil
}

// name is that of a counter, as keys have it: without a slash.
type name string

// nameOf checks a counter's name. Errors: fault.Invalid.
func nameOf(text string) (name, error) {
	if text == "" || len(text) > 255 {
		return "", fault.Newf(fault.Invalid, "counters", "a counter's name of %d bytes: 1 to 255", len(text))
	}
	return name(url.PathEscape(text)), nil
}

// The keys of a counter. The head's is the first: batches lock it before the parts.
func (n name) parts() string      { return string(n) + "/c/" }
func (n name) head() string       { return n.parts() + "0" }
func (n name) shards() string     { return n.parts() + "s/" }
func (n name) shard(i int) string { return fmt.Sprintf("%s%04d", n.shards(), i) }
func (n name) row(i id) string    { return n.parts() + "d/" + i.String() }
func (n name) entries() string    { return string(n) + "/e/" }

// shardOf returns the number of a shard's key; ok: it is one.
func (n name) shardOf(key string) (i int, ok bool) {
	number, ok := strings.CutPrefix(key, n.shards())
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(number, "%d", &i)
	return i, err == nil
}

// rowOf returns the id of a row's key; ok: it is one.
func (n name) rowOf(key string) (i id, ok bool) {
	text, ok := strings.CutPrefix(key, n.parts()+"d/")
	if !ok || len(text) != hex.EncodedLen(len(i)) {
		return i, false
	}
	_, err := hex.Decode(i[:], []byte(text))
	return i, err == nil
}
