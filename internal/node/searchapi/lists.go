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
	case req.Context == nil || len(req.Context.Lists) == 0:
		return false
	case err != nil:
		return fault.Is(err, fault.Behind)
	}
	return slices.ContainsFunc(found.Missing, func(m search.Missing) bool { return m.Reason == search.Behind })
}

// newerLists returns a request with the versions that its lists have now, once one of them is another; nil: none is. Shards may still have
// the request itself, so that it is not changed.
func (c *call) newerLists(ctx context.Context, req *search.Request) *search.Request {
	ctx, cancel := context.WithTimeout(ctx, listPause)
	defer cancel()
	for {
		now := make([]targeting.ListVersion, len(req.Context.Lists))
		for i, l := range req.Context.Lists {
			version, err := c.List(l.Name)
			if err != nil {
				return nil // it was removed meanwhile
			}
			now[i] = targeting.ListVersion{Name: l.Name, Version: version}
		}
		if !slices.Equal(now, req.Context.Lists) {
			next, at := *req, *req.Context
			at.Lists = now
			next.Context, c.context.Context = &at, &at
			return &next
		}
		if wait.Sleep(ctx, listEvery) != nil {
			return nil
		}
	}
}
