package counters

import (
	"context"
	"strings"
)

// Fill makes the head record as many ids as it keeps, as if that many updates had been
// folded.
func (f *Family[V]) Fill(ctx context.Context, counter string) error {
	n, err := nameOf(counter)
	if err != nil {
		return err
	}
	h, err := f.c.newest(ctx, n)
	if err != nil {
		return err
	}
	next := h.record
	next.addIDs(keptByHead, []byte(strings.Repeat("another update. ", keptByHead))...)
	_, err = f.c.store.Apply(ctx, n.put(h, &next))
	return err
}
