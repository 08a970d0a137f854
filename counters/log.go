package counters

import (
	"context"
	"encoding/json"
	"time"

	"adshard/counters/store"
	"adshard/fault"
)

// Log is the logs of one mode on a store. Each log is a named set of entries to which many
// clients append at once. Each part of a log is a shard of a counter with the entries appended
// to that shard. A batch changes one part; there are no batches of several parts. In a dynamic
// log each entry is a part of its own. A Log is safe for use by several goroutines.
type Log[E any] struct{ c *core }

// NewLog returns logs on a store. Errors: fault.Invalid.
func NewLog[E any](s store.Store, m Mode, o Options) (*Log[E], error) {
	p, err := partsOf(Sum[int64]())
	if err != nil {
		return nil, err
	}
	c, err := newCore(s, p, m, o)
	if err != nil {
		return nil, err
	}
	return &Log[E]{c}, nil
}

// Append adds an entry to one part of a log. Errors: those of Family.Update.
func (l *Log[E]) Append(ctx context.Context, log string, e E) error {
	raw, err := encode(e)
	if err != nil {
		return err
	}
	if len(raw) > store.MaxValue {
		return fault.Newf(fault.Invalid, "counters: append", "an entry of %d bytes, more than %d", len(raw), store.MaxValue)
	}
	return l.c.update(ctx, log, functionOf(func(n int64) int64 { return n + 1 }), func(n name, part string, i id) store.Change {
		return store.Change{Key: n.entries() + part + "/" + i.String(), Value: raw}
	})
}

// Read returns the entries of all parts, as they were at one moment, in no particular order.
func (l *Log[E]) Read(ctx context.Context, log string) ([]E, error) {
	n, err := nameOf(log)
	if err != nil {
		return nil, err
	}
	items, err := l.c.store.List(ctx, n.entries(), 0)
	if err != nil {
		return nil, err
	}
	out := make([]E, len(items))
	for i, it := range items {
		if out[i], err = decode[E](json.RawMessage(it.Value)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Len returns the number of entries of a log, without reading them.
func (l *Log[E]) Len(ctx context.Context, log string) (int64, error) {
	raw, err := l.c.total(ctx, log)
	if err != nil {
		return 0, err
	}
	return decode[int64](raw)
}

// Resize changes the number of parts to which Append adds entries. Read still reads all parts.
func (l *Log[E]) Resize(ctx context.Context, log string, parts int) error {
	return l.c.resize(ctx, log, parts)
}

// Maintain does what Family.Maintain does.
func (l *Log[E]) Maintain(ctx context.Context, log string) error { return l.c.maintain(ctx, log) }

// Run does what Family.Run does.
func (l *Log[E]) Run(ctx context.Context, interval time.Duration, note func(error)) error {
	return l.c.run(ctx, interval, note)
}
