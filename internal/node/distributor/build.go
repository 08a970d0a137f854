package distributor

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/node/truth"
	"adshard/internal/wait"
)

// build does a build job and gives the result to the state machine.
func (d *Distributor) build(ctx context.Context, machine *stateMachine, job delivery.Build) error {
	builder, release := d.builders.Acquire()
	defer release()
	made, err := d.bucket(ctx, builder, job)
	if err != nil {
		return d.failed(ctx, machine, job.Slave, job.Seq, err)
	}
	d.health.Record(health.PrepareData, nil)
	return d.step(func() error {
		for k, w := range made.weights {
			if _, known := d.index.Get(k); known {
				d.index.Put(k, w)
				d.weights[k] = w
			}
		}
		machine.Built(delivery.Built[*nodeData]{
			Slave: job.Slave, Seq: job.Seq, Entries: made.entries, Payload: made.data, Bytes: made.bytes,
		})
		return nil
	})
}

// noteSnapshot records the position of a snapshot from which a bucket is built.
func (d *Distributor) noteSnapshot(at backend.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at.Clock > d.built.Clock {
		d.built = at
	}
}

// fetch does a fetch job and gives the result to the state machine.
func (d *Distributor) fetch(ctx context.Context, machine *stateMachine, job delivery.Fetch) error {
	list, err := d.db.Changes(ctx, backend.Position{Clock: job.After}, job.Limit)
	stale := fault.Is(err, fault.Stale)
	if err != nil && !stale {
		return d.failed(ctx, machine, job.Slave, job.Seq, err)
	}
	return d.step(func() error {
		machine.Fetched(delivery.Fetched{Slave: job.Slave, Seq: job.Seq, Changes: feed.Changes(list, d.order, d.log), Stale: stale})
		return nil
	})
}

// failed gives a task back to the state machine after a pause.
func (d *Distributor) failed(ctx context.Context, machine *stateMachine, slave string, seq uint64, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.health.Record(health.PrepareData, err)
	d.log.Warn("cannot prepare node data; trying again", "slave", slave, "err", err)
	if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
		return err
	}
	return d.step(func() error { machine.Failed(slave, seq); return nil })
}

// bucket is a bucket that is being built.
type bucket struct {
	builder *nodedata.Builder
	order   balance.Order
	weigh   feed.Weights
	limit   int

	data    *nodeData
	entries int
	bytes   int
	weights map[balance.Key]uint32 // of changed items

	campaigns map[uint64]*backend.Campaign // campaigns read so far; nil if missing in the database
}

// bucket reads and builds the entries of a job. One goroutine reads while another one builds.
func (d *Distributor) bucket(ctx context.Context, builder *nodedata.Builder, job delivery.Build) (*bucket, error) {
	snap, err := d.snapshot(ctx, job)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	d.noteSnapshot(snap.Position())
	if snap.Position().Clock < job.Clock {
		return nil, fault.Newf(fault.Internal, "distributor: build", "the snapshot is at clock %d, %d is needed", snap.Position().Clock, job.Clock)
	}
	made := &bucket{
		builder: builder, order: d.order, weigh: d.cfg.Weights, limit: job.MaxBytes, data: newNodeData(d.cfg.Languages),
		weights: make(map[balance.Key]uint32), campaigns: make(map[uint64]*backend.Campaign),
	}
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan truth.Batch, 1)
	done := make(chan error, 1)
	go func() {
		defer close(batches)
		done <- d.read(ctx, snap, job.Entries, batches)
	}()
	full := false
	for next := range batches {
		if err == nil && !full {
			full, err = made.add(next)
		}
		if err != nil || full {
			cancel() // and drain the channel, so that the reader is done with the snapshot
		}
	}
	cancel()
	if failed := <-done; err == nil && !full {
		err = failed
	}
	return made, err
}

// snapshot opens a snapshot for a job. Large jobs read from the database's replica, if there is one
// that can be read and is recent enough.
func (d *Distributor) snapshot(ctx context.Context, job delivery.Build) (backend.Snapshot, error) {
	if len(job.Entries) < truth.BatchSize {
		return d.db.Snapshot(ctx)
	}
	snap, err := backend.FillSnapshot(ctx, d.db, job.Clock)
	if err == nil || ctx.Err() != nil {
		return snap, err
	}
	if !fault.Is(err, fault.Behind) {
		d.log.Warn("the replica of the database cannot be read; reading the primary", "err", err)
	}
	return d.db.Snapshot(ctx)
}

// read reads entries in batches and sends them to `out`.
func (d *Distributor) read(ctx context.Context, snap backend.Snapshot, entries []delivery.Entry, out chan<- truth.Batch) error {
	r := truth.NewReader(d.order, snap)
	for list := range slices.Chunk(entries, truth.BatchSize) {
		next, err := r.Read(ctx, list)
		if err != nil {
			return err
		}
		select {
		case out <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// add builds a batch. `full` says that the bucket takes no more. Parents come first in a bucket, so
// all of a batch's parents are added, even if its last items are not.
func (m *bucket) add(next truth.Batch) (full bool, err error) {
	if err := m.parents(next); err != nil {
		return false, err
	}
	for _, e := range next.Entries {
		if e.Key == 0 {
			m.entries++ // the entry is another part of the batch, or its item is gone
			continue
		}
		it, there := next.Items[m.order.Item(e.Key)]
		if !there {
			m.data.Deleted = append(m.data.Deleted, uint64(e.Key))
			m.entries++
			m.bytes += 8
			continue
		}
		item, err := m.item(it)
		if err != nil {
			return false, err
		}
		size := item.size()
		if m.entries > 0 && m.bytes+size > m.limit {
			return true, nil
		}
		m.data.add(item)
		m.entries++
		m.bytes += size
		if e.Changed() {
			m.weights[e.Key] = m.weigh.Of(uint32(len(it.Keywords)), uint32(len(it.Ads)), lexicon(it))
		}
	}
	return false, nil
}

func (m *bucket) parents(next truth.Batch) error {
	for _, a := range next.Advertisers {
		record, err := m.builder.Advertiser(a)
		if err != nil {
			return fmt.Errorf("advertiser %d: %w", a.ID, err)
		}
		m.data.Advertisers = append(m.data.Advertisers, record)
		m.bytes += proto.Size(record) + 4
	}
	for _, c := range next.Campaigns {
		m.campaigns[c.ID] = c
		record, err := m.builder.Campaign(c)
		if err != nil {
			return fmt.Errorf("campaign %d: %w", c.ID, err)
		}
		m.data.Campaigns = append(m.data.Campaigns, record)
		m.bytes += proto.Size(record) + 4
	}
	return nil
}

func (m *bucket) item(it *backend.Item) (*cutItem, error) {
	campaign, ok := m.campaigns[it.Group.CampaignID]
	if !ok {
		return nil, fault.Newf(fault.Corrupt, "distributor: build", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
	}
	item, err := cut(m.builder, it, campaign, m.limit)
	if err != nil {
		return nil, fmt.Errorf("group %d: %w", it.Group.ID, err)
	}
	return item, nil
}

// lexicon returns the number of distinct texts among an item's keywords (thesis 2.4).
func lexicon(it *backend.Item) uint32 {
	texts := make(map[string]struct{}, len(it.Keywords))
	for i := range it.Keywords {
		texts[it.Keywords[i].Text] = struct{}{}
	}
	return uint32(len(texts))
}
