package shardserver_test

import (
	"context"
	"testing"

	"adshard/fault"
	"adshard/internal/node/shardserver"
	"adshard/search"
	"adshard/targeting"
)

type fixedLists map[targeting.ListVersion]*targeting.Blocks

func (l fixedLists) Find(name string, version uint64) *targeting.Blocks {
	return l[targeting.ListVersion{Name: name, Version: version}]
}

func (l fixedLists) Blocks(_ context.Context, name string, version uint64) (*targeting.Blocks, error) {
	if b := l[targeting.ListVersion{Name: name, Version: version}]; b != nil {
		return b, nil
	}
	return nil, fault.Newf(fault.Behind, "test", "version %d of %s", version, name)
}

// Each shard sees the blocks of the lists that the master named, in its versions; the request stays as it is.
func TestStoredLists(t *testing.T) {
	kids := &targeting.Blocks{Name: "kids", Uncategorised: true}
	var seen *targeting.Context
	st := &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		seen = r.Context
		return &search.Answer{}, nil
	}}
	s := shardserver.New(self, st, kept{}, gate(1), nil, nil)
	r := asked()
	own := targeting.NewBlocks([]uint64{3}, nil, nil, false)
	r.Context = &targeting.Context{Blocks: []*targeting.Blocks{own}, Lists: []targeting.ListVersion{{Name: "kids", Version: 2}}}
	if _, err := s.Local().Search(t.Context(), r); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without lists: %v, want Unavailable", err)
	}
	s.Block(fixedLists{{Name: "kids", Version: 2}: kids})
	if _, err := s.Local().Search(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(seen.Blocks) != 2 || seen.Blocks[0] != own || seen.Blocks[1] != kids || len(r.Context.Blocks) != 1 {
		t.Errorf("the store saw %v, the request has %v", seen.Blocks, r.Context.Blocks)
	}
	r.Context.Lists[0].Version = 3
	if _, err := s.Local().Search(t.Context(), r); !fault.Is(err, fault.Behind) {
		t.Errorf("a version that is not there: %v, want Behind", err)
	}
	if _, err := s.Local().Explain(t.Context(), r, 1); !fault.Is(err, fault.Behind) {
		t.Errorf("a version that is not there, explained: %v, want Behind", err)
	}
}

// Placements have lists of their own; the request stays as it is.
func TestStoredListsOfPlacements(t *testing.T) {
	kids := &targeting.Blocks{Name: "kids", Uncategorised: true}
	var seen *search.Page
	st := &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		seen = r.Page
		return &search.Answer{}, nil
	}}
	_, s, _ := slave(t, st, 8, nil)
	s.Block(fixedLists{{Name: "kids", Version: 2}: kids})
	own := targeting.NewBlocks([]uint64{7}, nil, nil, false)
	r := &search.Request{Query: &search.Query{}, Shard: 1, Slots: 2, Page: &search.Page{PerAdvertiser: 1, Filters: []search.Filter{
		{}, {Reserve: 5, Blocks: []*targeting.Blocks{own}, Lists: []targeting.ListVersion{{Name: "kids", Version: 2}}},
	}}}
	if _, err := s.Local().Search(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if f := seen.Filters; seen.PerAdvertiser != 1 || len(f) != 2 || len(f[0].Blocks) != 0 || f[1].Reserve != 5 || len(f[1].Blocks) != 2 || f[1].Blocks[0] != own || f[1].Blocks[1] != kids {
		t.Errorf("the store saw %+v", seen)
	}
	if len(r.Page.Filters[1].Blocks) != 1 {
		t.Errorf("the request has %v", r.Page.Filters[1].Blocks)
	}
	r.Page.Filters[1].Lists[0].Version = 3
	if _, err := s.Local().Search(t.Context(), r); !fault.Is(err, fault.Behind) {
		t.Errorf("a version that is not there: %v, want Behind", err)
	}
}
