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

// id identifies an update.
type id [16]byte

func newID() (i id) {
	rand.Read(i[:]) // never fails
	return i
}

func (i id) String() string { return hex.EncodeToString(i[:]) }

// record is a part of a counter as it is stored: the head, a shard or a row.
type record struct {
	// Format is the format of all records of a counter. Only the head has it.
	Format int `json:"format,omitempty"`
	// Shards is the number of shards. Only the head has it.
	Shards int `json:"shards,omitempty"`
	// Epoch is the epoch in which the part was written; each Set begins the next one. A part whose
	// epoch is not the head's does not count.
	Epoch uint64          `json:"epoch,omitempty"`
	Value json.RawMessage `json:"value"`
	// Puts is the number of ids recorded so far; Recent has the last of them.
	Puts   uint64 `json:"puts"`
	Recent []byte `json:"recent,omitempty"`
	// Conflicts is the number of failed puts before the puts that succeeded.
	Conflicts uint64 `json:"conflicts,omitempty"`
}

const (
	format = 1
	// keptByShard and keptByHead are the number of ids that a shard and the head keep. That many
	// updates of the shard, or of folded parts, may happen while another update is being settled.
	keptByShard, keptByHead = 16, 1024
)

// addIDs adds ids, and drops the oldest beyond keep. It does not change copies of the record.
func (r *record) addIDs(keep int, ids ...byte) {
	r.Puts += uint64(len(ids) / len(id{}))
	r.Recent = slices.Concat(r.Recent, ids)
	if over := len(r.Recent) - keep*len(id{}); over > 0 {
		r.Recent = r.Recent[over:]
	}
}

// has reports whether an id is among the recent ones.
func (r *record) has(i id) bool {
	for at := 0; at+len(i) <= len(r.Recent); at += len(i) {
		if bytes.Equal(r.Recent[at:at+len(i)], i[:]) {
			return true
		}
	}
	return false
}

// knows reports whether Recent still has all ids recorded since the record had this number of
// puts.
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

// head is the head of a counter, with the version it was read with.
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

// name is a counter's name as used in keys: escaped, without a slash.
type name string

// nameOf returns the name of a counter in keys. Errors: fault.Invalid.
func nameOf(text string) (name, error) {
	if text == "" || len(text) > 255 {
		return "", fault.Newf(fault.Invalid, "counters", "a counter's name of %d bytes: 1 to 255", len(text))
	}
	return name(url.PathEscape(text)), nil
}

// The keys of a counter. The head's key comes first, so that batches lock it before the parts.
func (n name) parts() string      { return string(n) + "/c/" }
func (n name) head() string       { return n.parts() + "0" }
func (n name) shards() string     { return n.parts() + "s/" }
func (n name) shard(i int) string { return fmt.Sprintf("%s%04d", n.shards(), i) }
func (n name) row(i id) string    { return n.parts() + "d/" + i.String() }
func (n name) entries() string    { return string(n) + "/e/" }

// shardOf returns the number of the shard with a key; ok is false if the key is not a shard's.
func (n name) shardOf(key string) (i int, ok bool) {
	number, ok := strings.CutPrefix(key, n.shards())
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(number, "%d", &i)
	return i, err == nil
}

// rowOf returns the id of the row with a key; ok is false if the key is not a row's.
func (n name) rowOf(key string) (i id, ok bool) {
	text, ok := strings.CutPrefix(key, n.parts()+"d/")
	if !ok || len(text) != hex.EncodedLen(len(i)) {
		return i, false
	}
	_, err := hex.Decode(i[:], []byte(text))
	return i, err == nil
}
