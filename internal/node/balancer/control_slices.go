package balancer

import (
	"cmp"
	"context"
	"slices"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/survey"
)

// BalanceSlices implements admin.Control.
func (c adminControl) BalanceSlices(ctx context.Context, p api.BalanceSlicesParams) (*api.SliceList, error) {
	list, err := c.slices(p)
	if err != nil {
		return nil, err
	}
	var hot []*api.HotItem
	for _, s := range list.Slices {
		if s.Dominant != nil {
			hot = append(hot, s.Dominant)
		}
	}
	c.names.fill(ctx, c.db, hot)
	return list, nil
}

// slices lists slices by load, without the names of ad groups.
func (c adminControl) slices(p api.BalanceSlicesParams) (*api.SliceList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.newSurvey()
	if m == nil {
		return nil, c.noPlan()
	}
	of, err := m.Named(p.Slave)
	if err != nil {
		return nil, err
	}
	list := &api.SliceList{View: m.In.Model.View(), Measured: m.ByLoad(), Slices: []api.SliceInfo{}}
	var picked []int
	for i, s := range m.In.Model.Slices() {
		if of == 0 || s.Shard == of || s.Target() == of {
			picked = append(picked, i)
		}
	}
	list.Total = len(picked)
	slices.SortStableFunc(picked, func(a, b int) int { return cmp.Compare(m.Sums[b].Load, m.Sums[a].Load) })
	for _, i := range picked[:min(len(picked), p.Limit)] {
		list.Slices = append(list.Slices, m.Info(i))
	}
	return list, nil
}

// noPlan returns the error of a call that needs a model while there is none.
func (c adminControl) noPlan() error {
	return fault.Newf(fault.Unavailable, opControl, "there is no plan yet: %s", c.mapper.Waiting())
}

// find returns the index of a slice in the survey. Errors: fault.NotFound, with what became of the
// slice, if that is known, and with the nearest numbers. The caller holds b.mu.
func (c adminControl) find(m *survey.Survey, slice uint64) (int, error) {
	if i, ok := m.Slice(slice); ok {
		return i, nil
	}
	_, was := c.mapper.Why(c.now(), slice)
	if was == nil {
		was = c.noPlan()
	}
	return 0, fault.Newf(fault.NotFound, opControl, "%s; %s", fault.Cause(was), m.Nearest(slice))
}
