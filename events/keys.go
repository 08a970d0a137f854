package events

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"adshard/events/token"
	"adshard/fault"
)

// Control is the part of the control state that has the keys.
type Control interface {
	LoadControl(ctx context.Context, key string) ([]byte, error)
	SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error
}

// KeysKey is the suffix that the key of the signing keys adds to the cluster's state key.
const KeysKey = "/event-keys"

// Keys is the signing keys of a cluster, as they were read last. It is safe for use by several
// goroutines.
type Keys struct {
	control Control
	key     string
	now     func() time.Time
	ring    atomic.Pointer[token.Ring]

	mu   sync.Mutex
	read time.Time // when the keys were read last; guarded by mu
}

// NewKeys returns the keys of the cluster with a state key. It has no keys until Rotate is called.
func NewKeys(control Control, stateKey string, now func() time.Time) *Keys {
	k := &Keys{control: control, key: stateKey + KeysKey, now: now}
	k.ring.Store(new(token.Ring))
	return k
}

// refreshAfter is the least time between two reads of the keys because of tokens with unknown
// keys, since such tokens are easy to make.
const refreshAfter = time.Second

// Rotate reads the keys, and changes them when that is due. Several processes may call it: one
// changes the keys, and the others find them changed. Errors: those of the control state.
func (k *Keys) Rotate(ctx context.Context) error {
	for {
		b, err := k.control.LoadControl(ctx, k.key)
		if err != nil {
			return err
		}
		ring, err := token.ParseRing(b)
		if err != nil {
			return err
		}
		secret := make([]byte, token.SecretSize)
		rand.Read(secret) // never fails
		next, changed := ring.Rotate(k.now(), rotation, secret)
		if changed {
			err = k.control.SaveControlIf(ctx, k.key, next.Encode(), k.key, b)
		}
		switch {
		case err == nil:
			k.setRing(next)
			return nil
		case !fault.Is(err, fault.Conflict):
			return err
		} // another process was faster
	}
}

// Ring returns the keys, as they were read last.
func (k *Keys) Ring() *token.Ring { return k.ring.Load() }

func (k *Keys) setRing(r *token.Ring) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ring.Store(r)
	k.read = k.now()
}

// Open opens a token. If its key is not known, it first reads the keys again, unless they were
// read a moment ago. Errors: token.ErrMalformed, token.ErrForged, token.ErrUnknownKey, and those
// of the control state.
func (k *Keys) Open(ctx context.Context, text []byte) (token.Token, token.ID, error) {
	t, id, err := k.ring.Load().Open(text)
	if !errors.Is(err, token.ErrUnknownKey) {
		return t, id, err
	}
	k.mu.Lock()
	age := k.now().Sub(k.read)
	k.mu.Unlock()
	if age < 0 || age >= refreshAfter {
		if err := k.Rotate(ctx); err != nil {
			return t, id, err
		}
	}
	return k.ring.Load().Open(text)
}
