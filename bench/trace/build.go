package trace

import (
	"context"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Options says how items are ordered and which queries are traced.
type Options struct {
	Order   balance.Order
	Profile search.Profile
	Queries []string
	// Progress, if not nil, is called from time to time with the share that is read, 0 to
	// 1.
	Progress func(done float64)
}

// Build reads the database twice: first to count how rare each term is, then for the
// keywords that the queries look at. Queries that a cluster would refuse cost nothing.
// Memory grows with the number of keywords anchored at the queries' terms.
func Build(ctx context.Context, db backend.Store, o Options) (*Trace, error) {
	snap, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	b := &builder{o: o, t: &Trace{Order: o.Order, Clock: snap.Position().Clock, Queries: o.Queries, Starts: []int{0}}}
	if err := b.items(ctx, snap); err != nil {
		return nil, err
	}
	queries := make([]*search.Query, len(o.Queries))
	for i, text := range o.Queries {
		q, err := search.Expand(text, search.Synonym, nil)
		if err != nil && !fault.Is(err, fault.Invalid) {
			return nil, err
		}
		if err != nil {
			q = new(search.Query)
		}
		queries[i] = q
	}
	found, err := b.read(ctx, snap, queries)
	if err != nil {
		return nil, err
	}
	s := &scan{postings: found, profile: o.Profile, position: make(map[uint32]int), seen: make(map[uint32]bool)}
	for _, q := range queries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.t.add(s.query(q))
	}
	b.t.Topics = found.topics(queries)
	return b.t, nil
}

type builder struct {
	o         Options
	t         *Trace
	campaigns map[uint64]*backend.Campaign
}

// items lists all items by rising key.
func (b *builder) items(ctx context.Context, snap backend.Snapshot) error {
	type sized struct {
		key              balance.Key
		weight, keywords uint32
	}
	var list []sized
	for g, err := range snap.Groups(ctx) {
		if err != nil {
			return err
		}
		key, err := b.o.Order.Key(g.AdvertiserID, g.ID)
		if err != nil {
			return err
		}
		list = append(list, sized{key, max(1, g.Keywords+g.Ads+g.Lexicon), g.Keywords})
	}
	slices.SortFunc(list, func(x, y sized) int {
		if x.key < y.key {
			return -1
		}
		return 1
	})
	for _, g := range list {
		b.t.Keys = append(b.t.Keys, g.key)
		b.t.Weights = append(b.t.Weights, g.weight)
		b.t.Keywords = append(b.t.Keywords, g.keywords)
	}
	campaigns, err := snap.Campaigns(ctx, nil)
	b.campaigns = make(map[uint64]*backend.Campaign, len(campaigns))
	for _, c := range campaigns {
		b.campaigns[c.ID] = c
	}
	return err
}

// read reads all items twice.
func (b *builder) read(ctx context.Context, snap backend.Snapshot, queries []*search.Query) (*postings, error) {
	count := make(frequencies)
	if err := b.each(ctx, snap, 0, count.add); err != nil {
		return nil, err
	}
	p, keywords, missing := newPostings(queries), uint32(0), 0
	err := b.each(ctx, snap, 0.5, func(item *pb.Item) {
		number, ok := slices.BinarySearch(b.t.Keys, balance.Key(item.Group.Key))
		if !ok {
			missing++
			return
		}
		p.add(item, uint32(number), count, &keywords)
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d groups are in one list of the database and not in the other", missing)
	}
	return p, err
}

// each calls visit for all items. `from` is the share of the work done so far, for
// progress.
func (b *builder) each(ctx context.Context, snap backend.Snapshot, from float64, visit func(*pb.Item)) error {
	records, n := nodedata.New(b.o.Order), 0
	for it, err := range snap.All(ctx) {
		if err != nil {
			return err
		}
		c := b.campaigns[it.Group.CampaignID]
		if c == nil {
			return fault.Newf(fault.Corrupt, "trace", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
		}
		item, err := records.Item(it, c)
		if err != nil {
			return fmt.Errorf("group %d: %w", it.Group.ID, err)
		}
		visit(item)
		if n++; b.o.Progress != nil && n%4096 == 0 {
			b.o.Progress(from + 0.5*float64(n)/float64(len(b.t.Keys)))
		}
	}
	return nil
}
