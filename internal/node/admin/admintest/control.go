// Package admintest stands in for a balancer in tests of its callers: it gives prepared answers and
// records the commands that it gets.
package admintest

import (
	"context"
	"sync"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// Control implements admin.Control. Set the answers before the first call.
type Control struct {
	// Err, if not nil, is the answer to all calls.
	Err        error
	Slaves     *api.SlaveList
	Status     *api.BalanceStatus
	Slices     *api.SliceList
	Plan       *api.BalancePlan
	Strategies *api.StrategyList
	History    *api.BalanceHistory
	// Stories holds the answers about a slice, one for each call in turn; the last one is repeated.
	// Lists does the same for SlavesList.
	Stories map[uint64][]*api.SliceStory
	Lists   []*api.SlaveList

	mu   sync.Mutex
	told []string
}

// Calls returns the commands received, in order.
func (c *Control) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.told...)
}

func (c *Control) record(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, what)
	return c.Err
}

// next takes the first element off a list, but leaves the last one in it.
func next[T any](list []T) (T, []T) {
	if len(list) == 1 {
		return list[0], list
	}
	return list[0], list[1:]
}

// SlavesList implements admin.Control.
func (c *Control) SlavesList(context.Context) (*api.SlaveList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.Lists) == 0 {
		return c.Slaves, c.Err
	}
	var list *api.SlaveList
	list, c.Lists = next(c.Lists)
	return list, c.Err
}

// BalanceStatus implements admin.Control.
func (c *Control) BalanceStatus(context.Context) (*api.BalanceStatus, error) { return c.Status, c.Err }

// BalanceSlices implements admin.Control.
func (c *Control) BalanceSlices(context.Context, api.BalanceSlicesParams) (*api.SliceList, error) {
	return c.Slices, c.Err
}

// BalancePlan implements admin.Control.
func (c *Control) BalancePlan(context.Context) (*api.BalancePlan, error) { return c.Plan, c.Err }

// BalanceStrategies implements admin.Control.
func (c *Control) BalanceStrategies(context.Context) (*api.StrategyList, error) {
	return c.Strategies, c.Err
}

// BalanceHistory implements admin.Control.
func (c *Control) BalanceHistory(context.Context) (*api.BalanceHistory, error) {
	return c.History, c.Err
}

// BalanceWhy implements admin.Control.
func (c *Control) BalanceWhy(_ context.Context, slice uint64) (*api.SliceStory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.Stories[slice]
	if c.Err != nil || len(list) == 0 {
		return nil, c.orUnknown("there is no slice %d; the nearest are 3 and 4", slice)
	}
	var story *api.SliceStory
	story, c.Stories[slice] = next(list)
	return story, nil
}

func (c *Control) orUnknown(format string, args ...any) error {
	if c.Err != nil {
		return c.Err
	}
	return fault.Newf(fault.NotFound, "admintest", format, args...)
}
