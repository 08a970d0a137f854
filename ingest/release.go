package ingest

import (
	"context"
	"io"

	"adshard/backend"
	"adshard/ingest/rejected"
)

// heldTogether is the most campaigns or groups that one transaction releases, so that other writers need not wait for
// long.
const heldTogether = 10_000

// release is the progress at the end of a file: what the file holds is released, then other holds are lifted. In both
// steps campaigns precede groups.
type release struct {
	step  int
	after uint64 // ids up to this one are done
}

const (
	releasesCampaigns = iota
	releasesGroups
	liftsCampaigns
	liftsGroups
	released
)

// end releases part of what the file holds, in the open transaction.
func (w *writer) end(ctx context.Context) error {
	w.ending = w.ended
	if !w.applied {
		w.ending.step = released
		return nil
	}
	if w.applier == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	for room := heldTogether; w.ending.step < released && room > 0; {
		n, err := w.endStep(ctx, room)
		if err != nil {
			return err
		}
		if n < room {
			w.ending = release{step: w.ending.step + 1}
		}
		room -= n
	}
	return nil
}

func (w *writer) endStep(ctx context.Context, limit int) (int, error) {
	r := &w.ending
	if r.step >= liftsCampaigns {
		return w.lift(ctx, limit)
	}
	of := backend.EntityCampaign
	if r.step == releasesGroups {
		of = backend.EntityGroup
	}
	q := backend.HeldQuery{Groups: of == backend.EntityGroup, Import: w.holds.number}
	return w.applier.tx.Held(ctx, q, r.after, limit, func(h backend.Held) backend.Hold {
		r.after = h.ID
		if !w.named(of, h.ID) {
			return h.Hold // of a part of the file that this run lacks
		}
		return h.Hold.Marks()
	})
}

// lift lifts other holds of entities that have an own row in the file.
func (w *writer) lift(ctx context.Context, limit int) (n int, err error) {
	of := backend.EntityCampaign
	if w.ending.step == liftsGroups {
		of = backend.EntityGroup
	}
	ids := w.holds.lifts[of].Iterator()
	for ids.AdvanceIfNeeded(w.ending.after + 1); ids.HasNext() && n < limit; n++ {
		id := ids.Next()
		w.ending.after = id
		var was backend.Hold
		q := backend.HeldQuery{Groups: of == backend.EntityGroup, ID: id}
		_, err := w.applier.tx.Held(ctx, q, 0, 1, func(h backend.Held) backend.Hold {
			was = h.Hold
			return h.Hold & backend.Ended
		})
		if err == nil && of == backend.EntityCampaign && was.Import() != 0 {
			err = w.passOn(ctx, id, was.Import())
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// passOn moves the hold of a campaign on to its groups: the import that held the campaign now holds those groups that
// were shut only by it.
func (w *writer) passOn(ctx context.Context, campaign, number uint64) error {
	var after uint64
	for {
		q := backend.HeldQuery{Groups: true, Free: campaign}
		n, err := w.applier.tx.Held(ctx, q, after, heldTogether, func(h backend.Held) backend.Hold {
			after = h.ID
			return backend.HeldBy(number)
		})
		if err != nil || n < heldTogether {
			return err
		}
	}
}

// named reports whether the run has named an entity.
func (w *writer) named(of backend.Entity, id uint64) bool {
	return w.run.effects.has(of, id) || w.applier != nil && w.applier.effects.has(of, id)
}

func (t *effectSets) has(of backend.Entity, id uint64) bool {
	return t[of].named.Contains(id) || t[of].created.Contains(id)
}

// refuse shuts the owner whose own row was rejected, if the file has created it. An owner that the file has not named
// yet is shut when the file names it.
func (w *writer) refuse(ctx context.Context, e *entry) error {
	of, ok := e.owned()
	if !ok {
		return nil
	}
	w.holds.refuse(e, of)
	if !w.applied {
		return nil
	}
	if w.applier == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	return w.refuseNamed(ctx, e, of)
}

func (w *writer) refuseNamed(ctx context.Context, e *entry, of backend.Entity) error {
	tx := w.applier.tx
	advertiser, err := tx.FindAdvertiser(ctx, e.advertiser)
	if err != nil || advertiser == 0 {
		return err
	}
	campaign, err := tx.FindCampaign(ctx, advertiser, e.campaign)
	if err != nil || campaign == 0 || !w.named(backend.EntityCampaign, campaign) {
		return err
	}
	change := rowHold{of: w.holds, refused: w.holds.isRefused(e, backend.EntityCampaign)}
	if _, err := tx.Campaign(ctx, advertiser, e.campaign, backend.CampaignPatch{Hold: &change}); err != nil {
		return err
	}
	if of == backend.EntityCampaign {
		w.holds.lifts[of].Remove(campaign)
		return nil
	}
	group, err := tx.FindGroup(ctx, campaign, e.group)
	if err != nil || group == 0 || !w.named(backend.EntityGroup, group) {
		return err
	}
	w.holds.lifts[of].Remove(group)
	change = rowHold{of: w.holds, refused: true, covered: change.holds}
	_, err = tx.Group(ctx, campaign, e.group, backend.GroupPatch{Hold: &change})
	return err
}

// meet takes a chunk from the reader. What it notes is counted once, however often the chunk's transaction is
// repeated.
func (w *writer) meet(c *chunk) {
	if w.holds == nil {
		w.holds = newHoldings(c.number)
	}
	w.chunks = append(w.chunks, c)
	for i := range c.entries {
		w.run.restricts.add(&c.entries[i])
		if l := c.entries[i].list; l != nil {
			w.run.lists = append(w.run.lists, l)
		}
	}
}

// release releases the rest of what the file holds, in further transactions.
func (w *writer) release(ctx context.Context, read int64) error {
	for w.ended.step < released {
		c := &chunk{err: io.EOF, read: read}
		w.chunks = append(w.chunks, c)
		err := w.apply(ctx, c)
		if err == nil {
			err = w.commit(ctx)
		}
		if err := w.repeat(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// reject counts and reports a rejected row. It shuts the row's owner and pauses its campaign if need be.
func (w *writer) reject(ctx context.Context, e *entry) error {
	w.open.rejected++
	if len(w.run.sum.First)+len(w.open.first) < rejected.Listed {
		w.open.first = append(w.open.first, *e.reject)
	}
	if w.open.rejected > w.reported { // not reported in an attempt that failed
		w.reported++
		if f := w.run.options.Rejected; f != nil {
			f(*e.reject, e.cells)
		}
		if err := w.run.rejects.Write(e.reject); err != nil {
			return err
		}
	}
	if err := w.refuse(ctx, e); err != nil || !e.pausing {
		return err
	}
	return w.shut(ctx, e)
}
