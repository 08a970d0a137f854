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
	// listTries is how often a search is repeated with newer block lists. listPause is how long it waits for a newer list each time,
	// checking every listEvery.
	listTries = 3
	listPause = 300 * time.Millisecond
	listEvery = 10 * time.Millisecond
)

// askByLists does the work of ask for a request that may name block lists. A shard that got two changes of a list at once never had the
// version between them, which the request may name. When the master knows a newer version, it asks all shards again, so that all decide by
// the same version. askByLists returns the request that was answered.
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

// lacksLists reports whether shards may be missing because they lacked a version of a list.
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

// newerLists waits until one of the request's lists has a newer version, and returns a request with the present versions, or nil if none
// has. It does not change the request itself, which shards may still be using.
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

// renewed returns a copy of a request with the present versions of its lists and of its placements' lists. `newer` says that some of them
// have changed.
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
