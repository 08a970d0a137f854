package data

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

// ListChange is a client's request to change a block list.
type ListChange struct {
	Verb    Verb
	Name    string
	IfMatch string          // the ETag that the list must have; "" means any
	Edit    *blocklist.Edit // for Create and Update
}

// HoldLists waits for one of the places for requests that have a block list in memory, which may have a million entries,
// or the body that makes one. `leave` gives the place back. Errors: fault.Overloaded.
func (s *Service) HoldLists(ctx context.Context) (leave func(), err error) {
	if err := s.lists.take(ctx); err != nil {
		return nil, err
	}
	return s.lists.leave, nil
}

// Blocklists returns a page of block lists, by name. `cursor` is the name of the last list on the previous page.
func (s *Service) Blocklists(ctx context.Context, cursor string, limit int) (*api.BlocklistList, error) {
	if err := s.readers.take(ctx); err != nil {
		return nil, err
	}
	defer s.readers.leave()
	if cursor != "" && blocklist.CheckName(cursor) != nil {
		return nil, fault.Field(op, "cursor", "the cursor is not one of this list: take `next` of the page before, or none")
	}
	id, err := s.db.ID(ctx)
	if err != nil {
		return nil, err
	}
	all, err := blocklist.Heads(ctx, s.db)
	if err != nil {
		return nil, err
	}
	at, found := slices.BinarySearchFunc(all, cursor, func(l blocklist.Stored, name string) int { return strings.Compare(l.Name, name) })
	if found {
		at++
	}
	rest := all[at:]
	out := &api.BlocklistList{Blocklists: []api.BlocklistHead{}}
	for i := range rest[:min(limit, len(rest))] {
		l := &rest[i]
		out.Blocklists = append(out.Blocklists, api.BlocklistHead{Name: l.Name, Version: l.Version, Etag: listTag(id, l)})
	}
	if len(rest) > limit {
		out.Next = rest[limit-1].Name
	}
	return out, nil
}

// Blocklist returns a block list with a page of its entries. The caller holds a place (HoldLists). Errors: fault.NotFound;
// fault.Invalid for a cursor that is not of this list.
func (s *Service) Blocklist(ctx context.Context, name, cursor string, limit int) (*api.BlocklistAnswer, error) {
	if err := blocklist.CheckName(name); err != nil {
		return nil, err
	}
	id, err := s.db.ID(ctx)
	if err != nil {
		return nil, err
	}
	l, err := blocklist.Load(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	page, next, err := l.Page(cursor, limit)
	if err != nil {
		return nil, err
	}
	return &api.BlocklistAnswer{Next: next, Blocklist: api.Blocklist{
		Name: name, Version: l.Version, Etag: listTag(id, &l), Entries: l.Entries(), BlockUncategorised: l.Uncategorised,
		Advertisers: append([]uint64{}, page.Advertisers...), Domains: cloned(page.WrittenDomains()), Categories: cloned(page.Categories),
	}}, nil
}

// cloned copies texts, which would otherwise keep the whole list in memory until they are sent.
func cloned(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Clone(s)
	}
	return out
}

// ChangeBlocklist makes a change in one transaction. The caller holds a place (HoldLists). Errors: fault.NotFound;
// fault.Conflict for creating a list that exists already, and for an ETag that does not match (answered 412);
// fault.Invalid.
func (s *Service) ChangeBlocklist(ctx context.Context, c *ListChange) (*api.BlocklistChange, error) {
	id, err := s.db.ID(ctx)
	if err != nil {
		return nil, err
	}
	l, err := blocklist.Change(ctx, s.db, c.Name, func(was *blocklist.Stored) (*blocklist.List, error) { return c.apply(id, was) })
	if err != nil {
		return nil, err
	}
	if c.Verb == Remove {
		return &api.BlocklistChange{Effect: api.DataEffectRemoved, Name: c.Name}, nil
	}
	out := &api.BlocklistChange{Effect: api.DataEffectUpdated, Name: c.Name, Version: l.Version, Etag: listTag(id, &l), Entries: l.Entries()}
	if c.Verb == Create {
		out.Effect = api.DataEffectCreated
	}
	return out, nil
}

// apply returns the new state of a list in the database with an id, or nil if the list is to be removed.
func (c *ListChange) apply(database string, was *blocklist.Stored) (*blocklist.List, error) {
	there := was.Version != 0
	switch {
	case c.Verb == Create && there:
		return nil, fault.Newf(fault.Conflict, op, "there is a block list %q already; change that one, or remove it first", c.Name)
	case c.Verb == Create:
	case !there:
		return nil, fault.Newf(fault.NotFound, op, "there is no block list %q", c.Name)
	case c.IfMatch != "" && c.IfMatch != listTag(database, was):
		return nil, httpapi.PreconditionFailed("the block list %q is not the one that If-Match means: its ETag is %s now; read it again",
			c.Name, listTag(database, was))
	case c.Verb == Remove:
		return nil, nil
	}
	return c.Edit.Apply(&was.List)
}

// listTag returns the ETag of a block list in a database.
func listTag(database string, l *blocklist.Stored) string {
	return fmt.Sprintf(`"%016x"`, xxhash.Sum64String(fmt.Sprint(database, "/", l.Name, "/", l.Version, "/", l.Sum)))
}
