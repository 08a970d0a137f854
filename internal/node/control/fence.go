package control

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"adshard/backend"
	"adshard/fault"
)

// Fence holds the epoch of one term in the backend database. Writes through it succeed only while
// there is no later epoch, wherever leadership is decided.
type Fence struct {
	db    backend.Store
	key   string // the key of the cluster
	epoch uint64

	mu    sync.RWMutex // locked for writing while saved changes, here and in the database
	saved []byte       // the epoch that the next one must exceed, big-endian, followed by the address
	tried []byte       // what Raise wrote without getting an answer, or nil. It changes together with saved
}

// Epoch returns the epoch in the database and the address of the balancer that took it. The epoch is 0
// if there is none.
func Epoch(ctx context.Context, db backend.Store, key string) (epoch uint64, address string, err error) {
	b, err := db.LoadControl(ctx, guardKey(key))
	if err != nil {
		return 0, "", fmt.Errorf("load the balancer's epoch: %w", err)
	}
	epoch, address = decodeEpoch(b)
	return epoch, address, nil
}

// NewFence takes an epoch above the one in the database, and above `least`, for the balancer at an
// address. Errors: fault.Conflict if another one was faster.
func NewFence(ctx context.Context, db backend.Store, key, address string, least uint64) (*Fence, error) {
	f := &Fence{db: db, key: key}
	before, err := db.LoadControl(ctx, guardKey(key))
	if err != nil {
		return nil, fmt.Errorf("load the balancer's epoch: %w", err)
	}
	epoch, _ := decodeEpoch(before)
	f.epoch = max(epoch, least) + 1
	f.saved = encodeEpoch(f.epoch, address)
	if err := db.SaveControlIf(ctx, guardKey(key), f.saved, guardKey(key), before); err != nil {
		return nil, fmt.Errorf("save the balancer's epoch: %w", err)
	}
	return f, nil
}

func guardKey(key string) string { return key + "/epoch" }

func encodeEpoch(epoch uint64, address string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, epoch), address...)
}

func decodeEpoch(b []byte) (epoch uint64, address string) {
	if len(b) < 8 {
		return 0, ""
	}
	return binary.BigEndian.Uint64(b), string(b[8:])
}

// Epoch returns the term's epoch.
func (f *Fence) Epoch() uint64 { return f.epoch }

// Raise makes the next epoch higher than `epoch`. If the database does not answer, and is later found
// to have the epoch that Raise wrote, the term ends with fault.Stale: it cannot know whether its own
// write succeeded, or a balancer restarted at its address took that epoch.
func (f *Fence) Raise(ctx context.Context, epoch uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := append(binary.BigEndian.AppendUint64(nil, max(epoch, binary.BigEndian.Uint64(f.saved))), f.saved[8:]...)
	err := f.db.SaveControlIf(ctx, guardKey(f.key), next, guardKey(f.key), f.saved)
	switch {
	case err == nil:
		f.saved, f.tried = next, nil
	case !fault.Is(err, fault.Conflict):
		f.tried = next
	}
	return f.explain(ctx, err)
}

// Check returns *Replaced if another term has begun. It returns fault.Stale if the database was
// restored to a time before this term, or if Raise may have raised the epoch.
func (f *Fence) Check(ctx context.Context) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.check(ctx)
}

// check does the work of Check. The caller holds mu.
func (f *Fence) check(ctx context.Context) error {
	now, err := f.db.LoadControl(ctx, guardKey(f.key))
	if err != nil {
		return fmt.Errorf("load the balancer's epoch: %w", err)
	}
	if bytes.Equal(now, f.saved) {
		return nil
	}
	epoch, address := decodeEpoch(now)
	if f.tried != nil && bytes.Equal(now, f.tried) {
		return fault.Newf(fault.Stale, "balancer", "the epoch is %d, which this balancer with epoch %d tried to save without an answer: its term is over", epoch, f.epoch)
	}
	if epoch < f.epoch {
		return Restored(f.epoch, epoch)
	}
	return (&Replaced{Epoch: f.epoch, By: Leader{Candidate{Address: address}, epoch}}).Fault()
}

// Load returns a value, or nil if there is none.
func (f *Fence) Load(ctx context.Context, key string) ([]byte, error) {
	return f.db.LoadControl(ctx, f.key+key)
}

// Save makes a value durable.
func (f *Fence) Save(ctx context.Context, key string, value []byte) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.explain(ctx, f.db.SaveControlIf(ctx, f.key+key, value, guardKey(f.key), f.saved))
}

// Compact marks that this cluster needs the changes of the feed after a clock, and removes changes up
// to it that no reader needs.
func (f *Fence) Compact(ctx context.Context, clock uint64, idle time.Duration) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, err := f.db.CompactIf(ctx, f.key, clock, idle, guardKey(f.key), f.saved)
	return f.explain(ctx, err)
}

// explain returns why a write was refused, if it was. The caller holds mu.
func (f *Fence) explain(ctx context.Context, err error) error {
	if fault.Is(err, fault.Conflict) {
		if why := f.check(ctx); why != nil {
			return why
		}
	}
	return err
}
