package balancer

import (
	"cmp"
	"context"
	"slices"

	"adshard/internal/node/httpapi/api"
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
