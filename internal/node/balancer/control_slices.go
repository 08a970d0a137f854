package balancer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
)

// BalanceSlices implements admin.Control.
func (c control) BalanceSlices(_ context.Context, p api.BalanceSlicesParams) (*api.SliceList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.look()
	if m == nil {
		return nil, c.noPlan()
	}
	of, err := m.named(p.Slave)
	if err != nil {
		return nil, err
	}
	list := &api.SliceList{View: m.in.Model.View(), Measured: m.byLoad(), Slices: []api.SliceInfo{}}
	var picked []int
	for i, s := range m.in.Model.Slices() {
		if of == 0 || s.Node == of || s.Target() == of {
			picked = append(picked, i)
		}
	}
	list.Total = len(picked)
	slices.SortStableFunc(picked, func(a, b int) int { return cmp.Compare(m.sums[b].Load, m.sums[a].Load) })
	for _, i := range picked[:min(len(picked), p.Limit)] {
		list.Slices = append(list.Slices, m.info(i))
	}
	return list, nil
}

// info says what is known of a slice.
func (m *measured) info(i int) api.SliceInfo {
	s, sum := m.in.Model.Slices()[i], m.sums[i]
	out := api.SliceInfo{
		Slice: s.ID, Lo: keyText(s.Lo), Hi: keyText(s.Hi), Slave: m.name(s.Node), Generation: s.Generation, FromView: s.From,
		Items: uint64(sum.Items), Weight: sum.Weight, Load: sum.Load, Share: ratio(sum.Load, m.load),
	}
	if m.byLoad() {
		m.in.Loads.Hot(s.Lo, s.Hi, func(balance.Key, float64) bool { out.Hot++; return true })
	}
	if s.Move.Phase == balance.Copying {
		out.To = m.name(s.Move.Other)
	}
	return out
}

// keyText writes a key as people see it: 16 hexadecimal digits.
func keyText(k balance.Key) string { return fmt.Sprintf("%016x", uint64(k)) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
