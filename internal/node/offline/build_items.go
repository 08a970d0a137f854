package offline

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/fault"
)

// items reads, builds and stores all groups: one goroutine reads, several build
// and store.
func (b *build) items(ctx context.Context, snap backend.Snapshot) error {
	group, ctx := errgroup.WithContext(ctx)
	read := make(chan []*backend.Item, 8)
	group.Go(func() error { return readAll(ctx, snap, read) })
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error { return b.build(read) })
	}
	return group.Wait()
}

// buildBatch is the number of groups that are passed from stage to stage together.
const buildBatch = 256

func readAll(ctx context.Context, snap backend.Snapshot, out chan<- []*backend.Item) error {
	defer close(out)
	list := make([]*backend.Item, 0, buildBatch)
	flush := func() error {
		select {
		case out <- list:
			list = make([]*backend.Item, 0, buildBatch)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for it, err := range snap.All(ctx) {
		if err != nil {
			return err
		}
		if list = append(list, it); len(list) == buildBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// build turns groups into slave data and adds that to their stores, until there are no more groups.
func (b *build) build(in <-chan []*backend.Item) error {
	builder := nodedata.NewIn(b.order, b.cfg.Languages)
	for list := range in {
		added := make([]Store, len(b.stores))
		for _, it := range list {
			i, ok := b.owners[it.Group.CampaignID]
			if !ok {
				return fault.Newf(fault.Corrupt, "build barrels", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
			}
			item, err := builder.Item(it, b.camps[i])
			if err != nil {
				return fmt.Errorf("group %d: %w", it.Group.ID, err)
			}
			for _, s := range b.slaves(balance.Key(item.Group.Key)) {
				if err := b.stores[s].store.Add(item); err != nil {
					return err
				}
				added[s].Groups++
				added[s].Keywords += uint64(len(item.Keywords))
			}
		}
		b.count(added)
	}
	return nil
}

// count counts what was added to the stores, which is half of the work.
func (b *build) count(added []Store) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, a := range added {
		b.stores[i].groups += a.Groups
		b.stores[i].keywords += a.Keywords
		b.halves += a.Keywords
	}
	b.report()
}

// report reports progress. A keyword is done when the store that holds it is finished.
func (b *build) report() {
	if b.progress != nil {
		b.progress(b.halves/2, b.total)
	}
}
