package data

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// Page asks for one page of a list.
type Page struct {
	Type backend.Entity
	// Advertiser, Campaign and Group name the owner. Keywords, ads and negatives need one; for other kinds, 0
	// means all.
	Advertiser, Campaign, Group uint64
	Cursor                      string // ItemList.Next of the previous page, or "" for the first page
	Limit                       int
}

// maxGroups bounds the groups on a page, since each is read with all its contents.
const maxGroups = 100

// List returns a page, in the order of ids. Ids are never used again, so an entity that exists throughout is
// on exactly one page. Errors: fault.Invalid for a cursor of another list or database; fault.NotFound for an
// owner that does not exist.
func (s *Service) List(ctx context.Context, p Page) (*api.ItemList, error) {
	if err := s.readers.take(ctx); err != nil {
		return nil, err
	}
	defer s.readers.leave()
	n, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	list := p.name(n.database)
	after, err := readCursor(p.Cursor, list)
	if err != nil {
		return nil, err
	}
	keys, err := p.keys(ctx, n, after)
	if err != nil {
		return nil, err
	}
	out := &api.ItemList{MinClock: position(n.Position()), Items: []api.Item{}}
	for _, key := range keys[:min(p.Limit, len(keys))] {
		it, err := n.item(key)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, *it)
	}
	s.addSpend(ctx, n, out.Items)
	if len(keys) > p.Limit {
		out.Next = list + strconv.FormatUint(keys[p.Limit-1].ID, 16)
	}
	return out, nil
}

// name returns the text that all cursors of the list begin with.
func (p *Page) name(database string) string {
	return fmt.Sprintf("%016x-", xxhash.Sum64String(fmt.Sprint(database, p.Type, p.Advertiser, "/", p.Campaign, "/", p.Group)))
}

func readCursor(cursor, list string) (after uint64, err error) {
	if cursor == "" {
		return 0, nil
	}
	rest, ok := strings.CutPrefix(cursor, list)
	if after, err = strconv.ParseUint(rest, 16, 64); !ok || err != nil {
		return 0, fault.Field(op, "cursor", "the cursor is not one of this list in this database: take `next` of the page before, or none")
	}
	return after, nil
}

// keys returns the keys of the page's entities and of the next one, if any. It loads their rows.
func (p *Page) keys(ctx context.Context, n *state, after uint64) (keys []Key, err error) {
	kind, isRow := kindOf[p.Type]
	if !isRow {
		return p.held(ctx, n, after)
	}
	if kind == backend.KindGroup {
		p.Limit = min(p.Limit, maxGroups)
	}
	ids, err := n.IDs(ctx, kind, max(p.Advertiser, p.Campaign), after, p.Limit+1)
	var rows []row
	for i, id := range ids {
		keys = append(keys, Key{Type: p.Type, ID: id})
		if i < p.Limit {
			rows = append(rows, row{kind, id})
		}
	}
	if err != nil {
		return nil, err
	}
	return keys, n.load(ctx, rows)
}

// held returns the keys of entities within a group, or of the negatives of a campaign or advertiser.
func (p *Page) held(ctx context.Context, n *state, after uint64) (keys []Key, err error) {
	key := Key{Type: p.Type, Advertiser: p.Advertiser, Campaign: p.Campaign, Group: p.Group}
	owner := key.row()
	if err := n.load(ctx, []row{owner}); err != nil {
		return nil, err
	}
	add := func(id uint64) {
		if id > after && len(keys) <= p.Limit {
			key.ID = id
			keys = append(keys, key)
		}
	}
	g := n.groups[p.Group]
	negatives, found := n.negatives(key)
	switch {
	case !found:
		return nil, fault.Newf(fault.NotFound, op, "there is no %v %d", owner.kind, owner.id)
	case p.Type == backend.EntityKeyword:
		for i := range g.Keywords {
			add(g.Keywords[i].ID)
		}
	case p.Type == backend.EntityAd:
		for i := range g.Ads {
			add(g.Ads[i].ID)
		}
	default:
		for i := range negatives {
			add(negatives[i].ID)
		}
	}
	return keys, nil
}
