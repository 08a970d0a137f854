package node

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// items reads, builds and stores all groups, each stage on its own: the reader
// feeds the builders, these feed the stores.
func (b *barrelBuild) items(ctx context.Context, snap backend.Snapshot) error {
	group, ctx := errgroup.WithContext(ctx)
	read := make(chan []*backend.Item, 8)
	group.Go(func() error { return readAll(ctx, snap, read) })
	builders, inner := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		builders.Go(func() error { return b.build(inner, read) })
	}
	group.Go(func() error {
		err := builders.Wait()
		for _, s := range b.stores {
			close(s.items)
		}
		return err
	})
	for _, s := range b.stores {
		group.Go(func() error { return b.fill(ctx, s) })
	}
	return group.Wait()
}

// buildBatch is how many groups go from stage to stage together.
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

// build turns groups into node data and gives them to their stores.
func (b *barrelBuild) build(ctx context.Context, in <-chan []*backend.Item) error {
	builder := nodedata.New(b.order)
	for list := range in {
		out := make([][]*pb.Item, len(b.stores))
		for _, it := range list {
			i, ok := b.owners[it.Group.CampaignID]
			if !ok {
				return fault.Newf(fault.Corrupt, "build barrels", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
			}
			item, err := builder.Item(it, b.camps[i])
			if err != nil {
				return fmt.Errorf("group %d: %w", it.Group.ID, err)
			}
			s := b.slave(balance.Key(item.Group.Key))
			out[s] = append(out[s], item)
		}
		for i, items := range out {
			if len(items) == 0 {
				continue
			}
			select {
			case b.stores[i].items <- items:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// fill stores what arrives for one slave.
func (b *barrelBuild) fill(ctx context.Context, s *storeBuild) error {
	for list := range s.items {
		if ctx.Err() != nil {
			continue // let the builders end
		}
		keywords := uint64(0)
		for _, item := range list {
			if err := s.store.Add(item); err != nil {
				return err
			}
			s.groups++
			keywords += uint64(len(item.Keywords))
		}
		s.keywords += keywords
		b.report(keywords)
	}
	return ctx.Err()
}

// report counts keywords that are stored.
func (b *barrelBuild) report(keywords uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += keywords
	if b.progress != nil {
		b.progress(b.done, b.total)
	}
}
