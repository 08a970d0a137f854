package ingest

import (
	"context"
	"slices"

	"adshard/backend"
)

// pairs reads entities from both snapshots and hands compare both versions of each;
// nil if it is missing in that snapshot.
func pairs[T any](ctx context.Context, ids []uint64, before, after func(context.Context, []uint64) ([]*T, error), id func(*T) uint64, compare func(was, is *T) error) error {
	old, err := before(ctx, ids)
	if err != nil {
		return err
	}
	now, err := after(ctx, ids)
	if err != nil {
		return err
	}
	return match(old, now, id, compare)
}

// match pairs entities of two lists in ascending id order.
func match[T any](old, now []*T, id func(*T) uint64, compare func(was, is *T) error) error {
	for len(old) > 0 || len(now) > 0 {
		var was, is *T
		if len(now) == 0 || len(old) > 0 && id(old[0]) <= id(now[0]) {
			was, old = old[0], old[1:]
		}
		if len(now) > 0 && (was == nil || id(now[0]) == id(was)) {
			is, now = now[0], now[1:]
		}
		if err := compare(was, is); err != nil {
			return err
		}
	}
	return nil
}

// report reports a difference, if there is one; fields returns the fields of one
// version. The two are not both nil.
func report[T any](d *differences, at Difference, was, is *T, fields func(*T) fieldList) error {
	if was != nil {
		at.Before = fields(was)
	}
	if is != nil {
		at.After = fields(is)
	}
	switch {
	case was == nil:
		at.Effect = backend.Created
	case is == nil:
		at.Effect = backend.Removed
	case slices.Equal(at.Before, at.After):
		return nil
	default:
		at.Effect = backend.Changed
	}
	return d.found(&at)
}

// reportAll reports the differences of two lists of entities in ascending id order.
func reportAll[T any](d *differences, at Difference, old, now []T, id func(*T) uint64, fields func(*T) fieldList) error {
	return match(pointers(old), pointers(now), id, func(was, is *T) error { return report(d, at, was, is, fields) })
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
