package shardserver

import (
	"context"
	"slices"

	"adshard/fault"
	"adshard/search"
	"adshard/targeting"
)

// Lists has the stored block lists. documents.Lists implements it.
type Lists interface {
	// Find returns a version of a list, or nil if it is not there.
	Find(name string, version uint64) *targeting.Blocks
	// Blocks returns a version of a list. If it is not there yet, Blocks waits for it until ctx ends. Errors: fault.Behind.
	Blocks(ctx context.Context, name string, version uint64) (*targeting.Blocks, error)
}

// Block gives the server the stored block lists. Call it before the server serves. Without lists, the server refuses requests that
// name any.
func (s *Server) Block(lists Lists) { s.lists = lists }

// withLists returns a request whose context has the blocks of the stored lists that it names, each in the version that the master
// saw. It does not change the request itself, with which other shards may be asked. Errors: those of Lists.Blocks.
func (s *Server) withLists(ctx context.Context, r *search.Request) (*search.Request, error) {
	if r.Page == nil && (r.Context == nil || len(r.Context.Lists) == 0) {
		return r, nil
	}
	own := *r
	if c := r.Context; c != nil && len(c.Lists) > 0 {
		blocks, err := s.resolve(ctx, c.Blocks, c.Lists)
		if err != nil {
			return nil, err
		}
		at := *c
		at.Blocks, own.Context = blocks, &at
	}
	if r.Page == nil {
		return &own, nil
	}
	page := search.Page{Filters: slices.Clone(r.Page.Filters), PerAdvertiser: r.Page.PerAdvertiser}
	for i := range page.Filters {
		f := &page.Filters[i]
		var err error
		if f.Blocks, err = s.resolve(ctx, f.Blocks, f.Lists); err != nil {
			return nil, err
		}
	}
	own.Page = &page
	return &own, nil
}

// resolve returns `blocks` together with those of stored lists.
func (s *Server) resolve(ctx context.Context, blocks []*targeting.Blocks, lists []targeting.ListVersion) ([]*targeting.Blocks, error) {
	if len(lists) == 0 {
		return blocks, nil
	}
	if s.lists == nil {
		return nil, fault.Newf(fault.Unavailable, "slave: search", "this slave has no block lists")
	}
	blocks = slices.Clone(blocks)
	for _, l := range lists {
		b := s.lists.Find(l.Name, l.Version)
		if b == nil {
			var err error
			if b, err = s.waitForList(ctx, l); err != nil {
				return nil, err
			}
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// waitForList waits for a list that is on its way. Errors: fault.Behind if the list does not arrive in time, or if too many searches
// are waiting already.
func (s *Server) waitForList(ctx context.Context, l targeting.ListVersion) (*targeting.Blocks, error) {
	ctx, done, ok := s.wait(ctx)
	if !ok {
		return nil, fault.Newf(fault.Behind, "slave: search", "too many searches wait for block lists or changes: ask again later")
	}
	defer done()
	return s.lists.Blocks(ctx, l.Name, l.Version)
}
