package barrels

import (
	"context"

	"adshard/barrels/block"
	"adshard/fault"
	"adshard/schema/pb"
)

// Certificate says what a store has of an interval of keys.
type Certificate struct {
	// Clock: all changes up to it are in, no later ones.
	Clock uint64
	// Items is the number of groups in the bins wanted, Bytes the size of their
	// records and their keywords'.
	Items, Bytes uint64
	// Bins are the sums by bin, 0 for those not wanted. A group that searches
	// would find whole adds ItemSum of its records.
	Bins [Bins]Sum
}

// Message returns the certificate as it goes over the wire.
func (c *Certificate) Message() *pb.CertifyResponse {
	out := &pb.CertifyResponse{Clock: c.Clock, Items: c.Items, Bytes: c.Bytes}
	for _, sum := range c.Bins {
		out.Counts = append(out.Counts, sum.Count)
		out.HashHi = append(out.HashHi, sum.Hi)
		out.HashLo = append(out.HashLo, sum.Lo)
	}
	return out
}

// Certify implements Store. It reads the groups of the interval by rising key,
// and then, part by part, the postings that each of their keywords must have.
func (s *store) Certify(ctx context.Context, lo, hi, bins uint64) (*Certificate, error) {
	st := s.acquire()
	if st == nil {
		return nil, s.errClosed("barrels: certify")
	}
	defer st.release()
	c := &certifier{
		store: s, state: st, bins: bins, out: &Certificate{Clock: st.position.GetClock()},
		parents: make(map[parentKey]parentHash), demanded: demanded{since: place{key: lo}},
	}
	if err := c.items(ctx, lo, hi); err != nil {
		return nil, err
	}
	if err := c.postings(ctx, place{hi, ^uint64(0)}); err != nil {
		return nil, err
	}
	return c.out, nil
}

// certifier makes one certificate.
type certifier struct {
	store *store
	state *state
	bins  uint64
	out   *Certificate

	// of the group at hand
	key    uint64
	bin    int
	wanted bool
	head   block.Group
	last   uint64 // keyword id of its last keyword; 0: none yet
	hasher hasher

	pages   pageReader
	scratch []byte
	parents map[parentKey]parentHash
	demanded
}

type parentKey struct {
	kind byte
	id   uint64
}

// items reads the records of the groups with keys lo to hi.
func (c *certifier) items(ctx context.Context, lo, hi uint64) error {
	it := c.state.snapshot.Full(Items)
	defer it.Close()
	open := false // a group was begun
	for ok := it.Seek(appendKey(nil, lo, groupRecord)); ok; ok = it.Next() {
		key, part := keyPart(it.Key(), 0), keyPart(it.Key(), 1)
		if key > hi {
			break
		}
		if part == groupRecord {
			if err := c.end(open); err != nil {
				return err
			}
			if err := c.pause(ctx, place{key, 0}); err != nil {
				return err
			}
			open = true
			if err := c.begin(key, it.Value); err != nil {
				return err
			}
			continue
		}
		if !open || key != c.key {
			return damaged("group", errMissing)
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
	return c.end(open)
}

// goOn fails when ctx is over or the store waits to be closed.
func (c *certifier) goOn(ctx context.Context) error {
	if over(ctx) {
		return ended(ctx, "barrels: certify")
	}
	if c.store.newest.Load() == nil {
		return fault.Newf(fault.Unavailable, "barrels: certify", "the store is being closed or opened again; ask again in a moment")
	}
	return nil
}

// pause asks whether to go on, and looks at the postings demanded so far, those
// before next, when they are many.
func (c *certifier) pause(ctx context.Context, next place) error {
	if err := c.goOn(ctx); err != nil || len(c.list) < demandMost {
		return err
	}
	before := place{next.key, next.keyword - 1}
	if next.keyword == 0 {
		before = place{next.key - 1, ^uint64(0)}
	}
	return c.postings(ctx, before)
}

// begin starts a group.
func (c *certifier) begin(key uint64, value func() []byte) (err error) {
	c.key, c.bin, c.last = key, Bin(key), 0
	if c.wanted = c.bins>>c.bin&1 != 0; !c.wanted {
		return nil
	}
	record := value()
	if c.head, err = readHead(key, record); err != nil {
		return damaged("group", err)
	}
	c.out.Items++
	c.out.Bytes += uint64(len(record))
	c.hasher.begin(key, record)
	return nil
}

// page takes in a page of the group's keywords; first is the id in its key.
func (c *certifier) page(ctx context.Context, first uint64, value []byte) error {
	if err := c.pages.open(value); err != nil || c.pages.first() < first || first <= c.last {
		return damaged("keyword page", errPage)
	}
	for {
		k, err := c.pages.next()
		if err != nil {
			return damaged("keyword page", err)
		}
		if k == nil {
			return nil
		}
		if err := c.pause(ctx, place{c.key, k.id}); err != nil {
			return err
		}
		if err := c.take(k); err != nil {
			return err
		}
	}
}

// take takes in a keyword and demands its postings.
func (c *certifier) take(k *keywordData) error {
	if k.id <= c.last || !k.sound() {
		return damaged("keyword", errPage)
	}
	c.last = k.id
	c.scratch = k.appendRecord(c.scratch[:0])
	c.out.Bytes += uint64(len(c.scratch))
	c.hasher.record(c.scratch)
	for form := range k.forms {
		c.scratch = k.appendPosting(c.scratch[:0], &c.head, form)
		c.demand(k.anchors[form], place{c.key, k.id}, c.scratch)
	}
	return nil
}

// end adds the group's hash to its bin.
func (c *certifier) end(open bool) error {
	if !open || !c.wanted {
		return nil
	}
	campaign, err := c.parent(parentCampaign, c.head.Campaign)
	if err != nil {
		return err
	}
	advertiser, err := c.parent(parentAdvertiser, c.head.Advertiser)
	if err != nil {
		return err
	}
	c.out.Bins[c.bin].Add(c.hasher.end(campaign, advertiser))
	return nil
}

// parentsMost bounds the parents remembered.
const parentsMost = 1 << 16

// parent returns the hash of a parent's record, after a look whether searches
// have it as it is stored.
func (c *certifier) parent(kind byte, id uint64) (parentHash, error) {
	at := parentKey{kind, id}
	if h, known := c.parents[at]; known {
		return h, nil
	}
	raw, ok, err := c.state.snapshot.Get(Parents, appendParentKey(nil, kind, id), nil)
	if err != nil {
		return absent, err
	}
	same := c.state.parents.has(kind, id, raw, ok)
	if !same {
		return absent, damaged("parent", errMemory)
	}
	h := absent
	if ok {
		h = hashParent(raw)
	}
	if len(c.parents) >= parentsMost {
		clear(c.parents)
	}
	c.parents[at] = h
	return h, nil
}
