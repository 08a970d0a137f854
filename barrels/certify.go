package barrels

import (
	"context"
	"slices"

	"adshard/barrels/block"
	"adshard/barrels/certify"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/query"
	"adshard/barrels/record"
	"adshard/fault"
)

// Certify implements Store. It reads the groups of the interval by ascending key. After each batch
// of groups it checks the postings that their keywords must have, and finally it reads the parents.
// It reports damage as searches do.
func (s *barrel) Certify(ctx context.Context, lo, hi, bins uint64, parents []Parent) (*Certificate, error) {
	st := s.Acquire()
	if st == nil {
		return nil, s.errClosed("barrels: certify")
	}
	defer st.Release()
	c := &certifier{
		store: s, state: st, verifier: s.engine.Verifier(st), bins: bins, lo: lo, hi: hi,
		out:     &Certificate{Clock: st.Position.GetClock(), Mark: st.Position.GetMark(), Builder: st.Builder, Held: index.HoldsWholly(st.Slices.Table, lo, hi)},
		parents: make(map[Parent]struct{}), demanded: demanded{since: kv.Place{Key: lo}},
	}
	for _, p := range parents {
		c.parents[p] = struct{}{}
	}
	defer c.verifier.Close()
	if c.pace = s.pace.Swap(nil); c.pace == nil { // another certificate is being computed
		c.pace = &pacer{searches: &s.searches}
	}
	c.pace.begin()
	defer func() { c.pace.end(); s.pace.Store(c.pace) }()
	err := c.items(ctx)
	if err == nil {
		err = c.postings(ctx, kv.Place{Key: hi, Keyword: ^uint64(0)})
	}
	if err == nil {
		err = c.named(ctx)
	}
	if err == nil {
		return c.out, nil
	}
	if fault.Is(err, fault.Corrupt) {
		s.reportDamage(Damage{Lo: lo, Hi: hi, What: err.Error()})
	}
	return nil, err
}

// certifier computes one certificate.
type certifier struct {
	store    *barrel
	state    *index.Snapshot
	bins     uint64
	lo, hi   uint64
	out      *Certificate
	verifier *query.Verifier
	pace     *pacer

	// state of the current group
	key    uint64
	bin    int
	wanted bool
	head   block.Group
	last   uint64 // id of its last keyword so far, or 0
	hasher certify.Hasher

	pages   page.Reader
	scratch []byte
	parents map[Parent]struct{}
	demanded
}

// items reads the groups' records.
func (c *certifier) items(ctx context.Context) error {
	if c.bins == 0 {
		return nil
	}
	it := c.state.Data.Full(kv.Items)
	defer it.Close()
	open := false // whether a group has begun and not ended
	for ok := it.Seek(kv.AppendKey(nil, c.lo, kv.GroupRecord)); ok; ok = it.Next() {
		key, part := kv.KeyPart(it.Key(), 0), kv.KeyPart(it.Key(), 1)
		if key > c.hi {
			break
		}
		if part == kv.GroupRecord {
			c.end(open)
			if err := c.pause(ctx, kv.Place{Key: key, Keyword: 0}); err != nil {
				return err
			}
			open = true
			if err := c.begin(key, it.Value); err != nil {
				return err
			}
			continue
		}
		if !open || key != c.key {
			return kv.Damaged("group", kv.ErrMissing)
		}
		if c.wanted {
			if err := c.page(ctx, part, it.Value()); err != nil {
				return err
			}
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	c.end(open)
	return nil
}

// interrupted returns an error if ctx has ended or the store is about to be closed or reopened. It
// is called often and lets searches go first.
func (c *certifier) interrupted(ctx context.Context) error {
	c.pace.yield()
	if kv.Over(ctx) {
		return kv.Ended(ctx, "barrels: certify")
	}
	if c.store.Newest.Load() == nil {
		return fault.Newf(fault.Unavailable, "barrels: certify", "the store is being closed or reopened; try again in a moment")
	}
	return nil
}

// pause returns an error if the certificate must be aborted. If many postings are demanded, it
// first checks those before the place `next`.
func (c *certifier) pause(ctx context.Context, next kv.Place) error {
	if err := c.interrupted(ctx); err != nil || len(c.list) < demandMost {
		return err
	}
	before := kv.Place{Key: next.Key, Keyword: next.Keyword - 1}
	if next.Keyword == 0 {
		before = kv.Place{Key: next.Key - 1, Keyword: ^uint64(0)}
	}
	return c.postings(ctx, before)
}

// begin begins a group. The function value returns the group's stored record.
func (c *certifier) begin(key uint64, value func() []byte) (err error) {
	c.key, c.bin, c.last = key, certify.Bin(key), 0
	if c.wanted = c.bins>>c.bin&1 != 0; !c.wanted {
		return nil
	}
	stored := value()
	if c.head, err = record.ReadHead(key, stored); err != nil {
		return kv.Damaged("group", err)
	}
	c.out.Items++
	c.out.Bytes += uint64(len(stored))
	c.hasher.Begin(key, stored)
	c.parents[Parent{Campaign: true, ID: c.head.Campaign}] = struct{}{}
	c.parents[Parent{ID: c.head.Advertiser}] = struct{}{}
	return nil
}

// page adds a page of the group's keywords. `first` is the keyword id in the page's key.
func (c *certifier) page(ctx context.Context, first uint64, value []byte) error {
	if err := c.pages.Open(value); err != nil || c.pages.First() < first || first <= c.last {
		return kv.Damaged("keyword page", page.ErrDamaged)
	}
	for {
		k, err := c.pages.Next()
		if err != nil {
			return kv.Damaged("keyword page", err)
		}
		if k == nil {
			return nil
		}
		if err := c.pause(ctx, kv.Place{Key: c.key, Keyword: k.ID}); err != nil {
			return err
		}
		if err := c.keyword(k); err != nil {
			return err
		}
	}
}

// keyword adds a keyword to the group's hash and demands the keyword's postings.
func (c *certifier) keyword(k *record.Keyword) error {
	if k.ID <= c.last || !k.Sound() {
		return kv.Damaged("keyword", page.ErrDamaged)
	}
	c.last = k.ID
	c.scratch = k.AppendRecord(c.scratch[:0])
	c.out.Bytes += uint64(len(c.scratch))
	c.hasher.Record(c.scratch)
	for form := range k.Forms {
		c.scratch = k.AppendPosting(c.scratch[:0], &c.head, form)
		c.demand(k.Anchors[form], kv.Place{Key: c.key, Keyword: k.ID}, c.scratch)
	}
	c.store.engine.Display.Drop(k.ID) // composing it again is cheaper than comparing it
	return nil
}

// end ends the current group, if one is open, and adds its hash to its bin.
func (c *certifier) end(open bool) {
	if open && c.wanted {
		c.out.Bins[c.bin].Add(c.hasher.Sum())
		c.compareGroup(c.key)
	}
}

// named reads the parents that were requested and those that the groups name.
func (c *certifier) named(ctx context.Context) error {
	c.out.Parents = make([]ParentSum, 0, len(c.parents))
	for p := range c.parents {
		if err := c.interrupted(ctx); err != nil {
			return err
		}
		h, err := c.parent(p)
		if err != nil {
			return err
		}
		c.out.Parents = append(c.out.Parents, ParentSum{p, h[0], h[1]})
	}
	slices.SortFunc(c.out.Parents, func(a, b ParentSum) int { return a.compare(b.Parent) })
	return nil
}

// parent returns the hash of a parent's record. If the copy in memory differs from
// the record, it is replaced.
func (c *certifier) parent(p Parent) (certify.ParentHash, error) {
	kind := byte(kv.AdvertiserKind)
	if p.Campaign {
		kind = kv.CampaignKind
	}
	raw, ok, err := c.state.Data.Get(kv.Parents, kv.AppendParentKey(nil, kind, p.ID), nil)
	if err != nil || !ok {
		return certify.Absent, err
	}
	if same, err := c.state.Parents.Matches(kind, p.ID, raw); err != nil {
		return certify.Absent, err
	} else if !same {
		if err := c.store.mendParent(kind, p.ID); err != nil {
			return certify.Absent, err
		}
	}
	return certify.HashParent(raw), nil
}
