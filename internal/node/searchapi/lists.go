package searchapi

import (
	"context"
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
	"adshard/search"
	"adshard/targeting"
)

const (
	// listTries is how often a search is made with newer block lists, and listPause how long it waits for each, looking every listEvery.
	listTries = 3
	listPause = 300 * time.Millisecond
	listEvery = 10 * time.Millisecond
)

// askByLists is ask for a request that may name block lists. A shard that got two changes of a list at once never had the version between
// them, which the request may name: as soon as the master knows a newer one, it asks again. Each time all shards are asked, so that all
// decide by one version. It returns the request that was answered.
func (c *call) askByLists(ctx context.Context, req *search.Request) (*search.Request, *search.Answer, error) {
	found, err := c.ask(ctx, req)
	for range listTries {
		if !lacksLists(req, found, err) {
			break
		}
		next := c.newerLists(ctx, req)
		if next == nil {
			break
		}
		req = next
		found, err = c.ask(ctx, req)
	}
	return req, found, err
}

// lacksLists reports whether shards may have had no answer for want of a list's version.
func lacksLists(req *search.Request, found *search.Answer, err error) bool {
	switch {
	case !namesLists(req):
		return false
	case err != nil:
		return fault.Is(err, fault.Behind)
	}
	return slices.ContainsFunc(found.Missing, func(m search.Missing) bool { return m.Reason == search.Behind })
}

// namesLists reports whether a request, or a placement of its page, names block lists.
func namesLists(req *search.Request) bool {
	return req.Context != nil && len(req.Context.Lists) > 0 ||
		req.Page != nil && slices.ContainsFunc(req.Page.Filters, func(f search.Filter) bool { return len(f.Lists) > 0 })
}

// newerLists returns a request with the versions that its lists have now, once one of them is another; nil: none is. Shards may still have
// the request itself, so that it is not changed.
func (c *call) newerLists(ctx context.Context, req *search.Request) *search.Request {
	ctx, cancel := context.WithTimeout(ctx, listPause)
	defer cancel()
	for {
		next, newer, err := c.renewed(req)
		switch {
		case err != nil:
			return nil // a list was removed meanwhile
		case newer:
			c.context.Context = next.Context
			return next
		}
		if wait.Sleep(ctx, listEvery) != nil {
			return nil
		}
	}
}

// renewed returns a copy of a request with the versions that its lists and those of its placements have now; newer: some have another.
func (c *call) renewed(req *search.Request) (next *search.Request, newer bool, err error) {
	own, at := *req, *req.Context
	own.Context = &at
	lists := []*[]targeting.ListVersion{&at.Lists}
	if req.Page != nil {
		page := *req.Page
		page.Filters = slices.Clone(page.Filters)
		own.Page = &page
		for i := range page.Filters {
			lists = append(lists, &page.Filters[i].Lists)
		}
	}
	for _, of := range lists {
		*of = slices.Clone(*of)
		for i := range *of {
			l := &(*of)[i]
			was := l.Version
			if l.Version, err = c.List(l.Name); err != nil {
				return nil, false, err
			}
			newer = newer || l.Version != was
		}
	}
	return &own, newer, nil
}
