package token

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// Token describes an ad that was served.
type Token struct {
	Served time.Time // to the millisecond
	// Nonce is random; all ads of one answer have the same.
	Nonce    uint64
	Position uint8 // from 1
	// Advertiser, Campaign, Keyword and Ad are ids; Price is in micros.
	Advertiser, Campaign, Keyword, Ad, Price uint64
	// Query is a hash of the words of the query (QueryHash).
	Query uint64
}

// ID identifies a token. It begins with the second when the ad was served, followed by bytes of
// the signature, so IDs sort by time.
type ID [idSize]byte

const (
	version = 1
	tagSize = 16
	idSize  = 16
	secs    = 4 // the bytes of an ID that have the time
	// MaxText is the length of the longest token as text.
	MaxText    = (maxPayload + tagSize + 2) / 3 * 4
	maxPayload = 1 + 5 + 9 + 8 + 1 + 5*binary.MaxVarintLen64 + 8
	// lastMs is the latest time that fits into an ID, in ms since 1970.
	lastMs = 1<<32*1000 - 1
)

// Errors for texts that are not valid tokens. An unknown key may be one that has not arrived here
// yet.
var (
	ErrMalformed  = errors.New("the text is not an event token")
	ErrUnknownKey = errors.New("the key of the event token is not known")
	ErrForged     = errors.New("the event token was not made by this cluster")
)

var text = base64.RawURLEncoding.Strict()

// TimeOf returns when the ad of the token was served, in whole seconds.
func (id ID) TimeOf() time.Time { return time.Unix(int64(binary.BigEndian.Uint32(id[:])), 0) }

// From returns the least ID of tokens served at t or later.
func From(t time.Time) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(max(0, min(t.Unix(), 1<<32-1))))
	return id
}

func idOf(ms uint64, tag []byte) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(ms/1000))
	copy(id[secs:], tag)
	return id
}

// QueryHash returns a hash of a query's words, which are given as hashes.
func QueryHash(words ...uint64) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, w := range words {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// appendPayload appends the bytes that are signed.
func (t *Token) appendPayload(b []byte, key uint32, ms uint64) []byte {
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(key))
	b = binary.AppendUvarint(b, ms)
	b = binary.BigEndian.AppendUint64(b, t.Nonce)
	b = append(b, t.Position)
	for _, n := range [...]uint64{t.Advertiser, t.Campaign, t.Keyword, t.Ad, t.Price} {
		b = binary.AppendUvarint(b, n)
	}
	return binary.BigEndian.AppendUint64(b, t.Query)
}

// parse decodes a payload. ok is false if the bytes are not a valid payload.
func parse(b []byte) (t Token, key uint32, ms uint64, ok bool) {
	r := reader{b: b}
	v := r.bytes(1)
	number := r.number(1<<32 - 1)
	ms = r.number(lastMs)
	nonce := r.bytes(8)
	position := r.bytes(1)
	for _, to := range []*uint64{&t.Advertiser, &t.Campaign, &t.Keyword, &t.Ad, &t.Price} {
		*to = r.number(1<<64 - 1)
	}
	query := r.bytes(8)
	if r.bad || len(r.b) > 0 || v[0] != version {
		return Token{}, 0, 0, false
	}
	t.Served, t.Position = time.UnixMilli(int64(ms)), position[0]
	t.Nonce, t.Query = binary.BigEndian.Uint64(nonce), binary.BigEndian.Uint64(query)
	return t, uint32(number), ms, true
}

// reader takes values from the front of a slice of bytes; bad is set at the first error.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// number reads a varint, which must be in its shortest form and at most `most`.
func (r *reader) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if r.bad || size <= 0 || n > most || size > 1 && r.b[size-1] == 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}
