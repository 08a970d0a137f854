package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"

	"adshard/fault"
)

// Key is a key that signs tokens from a time on, until the time of the next key.
type Key struct {
	Number uint32    `json:"number"` // from 1; never reused
	From   time.Time `json:"from"`
	Secret []byte    `json:"secret"` // SecretSize bytes
}

// SecretSize is the length of a key's secret.
const SecretSize = 32

// Ring holds the keys of a cluster. It is safe for use by several goroutines.
type Ring struct {
	keys []*signer // in ascending order of numbers
}

// signer is a key with a pool of hash states.
type signer struct {
	Key
	free sync.Pool // of *mac
}

// mac is a keyed hash with buffers for its sum, a payload and a token.
type mac struct {
	hash.Hash
	sum, payload []byte
}

func newSigner(k Key) *signer {
	s := &signer{Key: k}
	s.free.New = func() any {
		return &mac{hmac.New(sha256.New, k.Secret), make([]byte, 0, sha256.Size), make([]byte, 0, maxPayload+tagSize)}
	}
	return s
}

// tag returns the tag of a payload, which is valid until m is used again.
func (m *mac) tag(payload []byte) []byte {
	m.Reset()
	m.Write(payload) // never fails
	m.sum = m.Sum(m.sum[:0])
	return m.sum[:tagSize]
}

// NewRing returns a ring of keys. Errors: fault.Corrupt if a key is not valid, or the keys are not
// in order.
func NewRing(keys []Key) (*Ring, error) {
	r := new(Ring)
	for i, k := range keys {
		if k.Number == 0 || len(k.Secret) != SecretSize || i > 0 && (k.Number <= keys[i-1].Number || k.From.Before(keys[i-1].From)) {
			return nil, fault.Newf(fault.Corrupt, "event keys", "the key at %d is none, or not in order", i)
		}
		r.keys = append(r.keys, newSigner(k))
	}
	return r, nil
}

// ParseRing decodes what Encode returned. Without any bytes, it returns a ring without keys.
// Errors: fault.Corrupt.
func ParseRing(b []byte) (*Ring, error) {
	if len(b) == 0 {
		return new(Ring), nil
	}
	var keys []Key
	if err := json.Unmarshal(b, &keys); err != nil {
		return nil, fault.Newf(fault.Corrupt, "event keys", "they cannot be read") // err might show a part of the keys
	}
	return NewRing(keys)
}

// Encode returns the keys as bytes, for storing them.
func (r *Ring) Encode() []byte {
	b, _ := json.Marshal(r.Keys()) // cannot fail for these types
	return b
}

// Keys returns the keys in ascending order of numbers.
func (r *Ring) Keys() []Key {
	out := make([]Key, len(r.keys))
	for i, k := range r.keys {
		out[i] = k.Key
	}
	return out
}

// IDs returns an identifier of each key, for comparison, that reveals nothing of its secret.
func (r *Ring) IDs() []string {
	out := make([]string, len(r.keys))
	for i, k := range r.keys {
		sum := sha256.Sum256(append([]byte("adshard: the name of a key of event tokens "), k.Secret...))
		out[i] = fmt.Sprintf("%d-%x", k.Number, sum[:8])
	}
	return out
}

// Rotation says how long keys are used. Lead must be longer than it takes until all processes that
// sign or check tokens have a new key. Keep must be longer than tokens are valid.
type Rotation struct{ Every, Lead, Keep time.Duration }

// Rotate returns the ring for the time now, and whether it differs from r. It adds a new key with
// the given secret when the newest key will be Every old in Lead, or at once if the ring is empty.
// It drops a key when its successor has been active for Keep. If the clock goes back, nothing is
// added or dropped.
func (r *Ring) Rotate(now time.Time, by Rotation, secret []byte) (*Ring, bool) {
	keys := r.Keys()
	switch n := len(keys); {
	case n == 0:
		keys = append(keys, Key{Number: 1, From: now, Secret: secret})
	case !now.Before(keys[n-1].From.Add(by.Every - by.Lead)):
		keys = append(keys, Key{Number: keys[n-1].Number + 1, From: now.Add(by.Lead), Secret: secret})
	}
	drop := 0
	for drop+1 < len(keys) && now.After(keys[drop+1].From.Add(by.Keep)) {
		drop++
	}
	if keys = slices.Delete(keys, 0, drop); len(keys) == len(r.keys) && drop == 0 {
		return r, false
	}
	next, err := NewRing(keys)
	if err != nil {
		panic(fmt.Sprintf("token: a rotated ring is none: %v", err))
	}
	return next, true
}

// signerAt returns the key that signs tokens at a time: the newest key that is active by then, or
// the first key if none is. It returns nil if there are no keys.
func (r *Ring) signerAt(t time.Time) *signer {
	for i := len(r.keys) - 1; i > 0; i-- {
		if !t.Before(r.keys[i].From) {
			return r.keys[i]
		}
	}
	if len(r.keys) == 0 {
		return nil
	}
	return r.keys[0]
}

// Append appends the text of a token to b. It returns b unchanged and false if there is no key.
func (r *Ring) Append(b []byte, t *Token) ([]byte, bool) {
	s := r.signerAt(t.Served)
	if s == nil {
		return b, false
	}
	m := s.free.Get().(*mac)
	m.payload = t.appendPayload(m.payload[:0], s.Number, uint64(max(0, min(t.Served.UnixMilli(), lastMs))))
	m.payload = append(m.payload, m.tag(m.payload)...)
	b = text.AppendEncode(b, m.payload)
	s.free.Put(m)
	return b, true
}

// Open returns the token that a text encodes, and its id. Errors: ErrMalformed, ErrUnknownKey,
// ErrForged.
func (r *Ring) Open(given []byte) (Token, ID, error) {
	if len(given) > MaxText {
		return Token{}, ID{}, ErrMalformed
	}
	var room [maxPayload + tagSize + 3]byte
	n, err := text.Decode(room[:], given)
	if err != nil || n < tagSize || text.EncodedLen(n) != len(given) { // the decoder skips line ends
		return Token{}, ID{}, ErrMalformed
	}
	payload, tag := room[:n-tagSize], room[n-tagSize:n]
	t, number, ms, ok := parse(payload)
	if !ok {
		return Token{}, ID{}, ErrMalformed
	}
	i, found := slices.BinarySearchFunc(r.keys, number, func(s *signer, n uint32) int { return int(int64(s.Number) - int64(n)) })
	if !found {
		return Token{}, ID{}, ErrUnknownKey
	}
	s := r.keys[i]
	m := s.free.Get().(*mac)
	m.payload = append(m.payload[:0], payload...) // a copy, so that room stays on the stack
	same := subtle.ConstantTimeCompare(m.tag(m.payload), tag) == 1
	s.free.Put(m)
	if !same {
		return Token{}, ID{}, ErrForged
	}
	return t, idOf(ms, tag), nil
}
