package barrels

import (
	"cmp"
	"context"
	"slices"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/block"
	"adshard/barrels/certify"
	"adshard/barrels/kv"
)

// demandMost is the number of postings (4 MB) that are demanded before they are looked up.
const demandMost = 1 << 17

// demand is a posting that the store must have.
type demand struct {
	term uint64
	kv.Place
	hash uint64 // hash of its canonical bytes
}

// demanded are the postings that the groups read so far must have, from the place `since` on.
type demanded struct {
	list  []demand
	since kv.Place
	view  block.View
	bytes []byte
}

func (d *demanded) demand(term uint64, at kv.Place, canonical []byte) {
	d.list = append(d.list, demand{term, at, xxhash.Sum64(canonical)})
}

// postings looks up the demanded postings and starts a new list after upTo. Up to that place the
// requested groups may have no other postings under these terms: a missing, different or extra
// posting changes the sum of its bin.
func (c *certifier) postings(ctx context.Context, upTo kv.Place) error {
	slices.SortFunc(c.list, func(a, b demand) int {
		if a.term != b.term {
			return cmp.Compare(a.term, b.term)
		}
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Keyword, b.Keyword))
	})
	it := c.state.Data.Full(kv.Postings)
	defer it.Close()
	for list := c.list; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].term == list[0].term {
			n++
		}
		if err := c.term(ctx, it, list[:n], upTo); err != nil {
			return err
		}
		list = list[n:]
	}
	c.list, c.since = c.list[:0], kv.Place{Key: upTo.Key, Keyword: upTo.Keyword + 1}
	if upTo.Keyword == ^uint64(0) {
		c.since = kv.Place{Key: upTo.Key + 1}
	}
	return nil
}

// term looks up the postings that are demanded under one term.
func (c *certifier) term(ctx context.Context, it kv.Iterator, want []demand, upTo kv.Place) error {
	if err := c.interrupted(ctx); err != nil {
		return err
	}
	term := want[0].term
	if !c.state.Terms.HasPostings(term) { // searches would not look for any
		c.wrongs(want)
		return nil
	}
	var last kv.Place // last place of the block before
	for ok := c.seek(it, term); ok && kv.KeyPart(it.Key(), 0) == term; ok = it.Next() {
		first := kv.Place{Key: kv.KeyPart(it.Key(), 1), Keyword: kv.KeyPart(it.Key(), 2)}
		if upTo.Less(first) {
			break
		}
		err := c.view.Open(it.Value())
		if err == nil {
			err = c.view.Check()
		}
		if err != nil {
			return kv.Damaged("block", err)
		}
		if viewPlace(&c.view, 0).Less(first) || first.Less(last) {
			return kv.Damaged("block", kv.ErrOrder)
		}
		c.compareBlock(term, first, it.Value())
		last = viewPlace(&c.view, c.view.Len()-1)
		want = c.block(want, upTo)
	}
	c.wrongs(want)
	return it.Err()
}

// seek moves to the block of a term in which the demanded postings begin.
func (c *certifier) seek(it kv.Iterator, term uint64) bool {
	c.bytes = kv.AppendKey(c.bytes[:0], term, c.since.Key, c.since.Keyword)
	if it.SeekBack(c.bytes) && kv.KeyPart(it.Key(), 0) == term {
		return true
	}
	return it.Seek(kv.AppendKey(c.bytes[:0], term, 0, 0))
}

// block compares the postings of a block with the demanded ones. It returns the demands that come
// after the block.
func (c *certifier) block(want []demand, upTo kv.Place) []demand {
	v := &c.view
	for i := range v.Len() {
		at := viewPlace(v, i)
		if at.Less(c.since) || c.bins>>certify.Bin(at.Key)&1 == 0 {
			continue
		}
		if upTo.Less(at) {
			break
		}
		n := 0
		for n < len(want) && want[n].Less(at) {
			n++
		}
		c.wrongs(want[:n])
		want = want[n:]
		c.bytes = v.AppendPosting(c.bytes[:0], i)
		found := xxhash.Sum64(c.bytes)
		if len(want) == 0 || want[0].Place != at {
			c.wrong(at.Key, found)
			continue
		}
		if found != want[0].hash || !v.Bounded(i) || !c.findable(i) {
			c.wrong(at.Key, found)
		}
		want = want[1:]
	}
	return want
}

// findable reports whether the dictionary of searches has the terms of all words of posting i. If
// it lacked one, the signature test would skip the posting.
func (c *certifier) findable(i int) bool {
	_, refs := c.view.Posting(i)
	for i := range refs.Len() {
		if _, _, term := c.view.Word(refs.At(i)); !c.state.Terms.Has(term) {
			return false
		}
	}
	return true
}

// wrongs changes the sums of the bins of missing postings.
func (c *certifier) wrongs(list []demand) {
	for i := range list {
		c.wrong(list[i].Key, list[i].hash)
	}
}

// wrong changes the sum of a group's bin.
func (c *certifier) wrong(key, hash uint64) { c.out.Bins[certify.Bin(key)].Add(certify.Faulty(hash)) }
