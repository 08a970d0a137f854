package balancer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/survey"
)

// BalanceWhy implements admin.Control.
func (c adminControl) BalanceWhy(ctx context.Context, slice uint64) (*api.SliceStory, error) {
	out, err := c.story(slice)
	if err != nil {
		return nil, err
	}
	var hot []*api.HotItem
	for i := range out.Hot {
		hot = append(hot, &out.Hot[i])
	}
	c.names.fill(ctx, c.db, hot)
	return out, nil
}

// story explains why a slice is where it is, without the names of ad groups.
func (c adminControl) story(slice uint64) (*api.SliceStory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.newSurvey()
	if m == nil {
		return nil, c.noPlan()
	}
	i, err := c.find(m, slice)
	if err != nil {
		return nil, err
	}
	why, err := c.mapper.Why(c.now(), slice)
	if err != nil {
		return nil, err
	}
	st := c.mapper.Status(c.now())
	k := survey.Facts{Flight: why.Move, Events: []api.Event{}, Reasons: m.ReasonsOf(st.Last, slice), Asked: st.Last.Strategy != "", Paused: st.Paused,
		Away: why.Away, EvacuateAfter: c.cfg.EvacuateAfter, Now: time.Now()}
	for _, d := range slices.Backward(why.Decisions) {
		e := api.Event{AgeMs: max(0, (why.Now - d.At).Milliseconds()), Slice: slice, Text: d.Text}
		if d.Times > 1 {
			e.Text += fmt.Sprintf(" (%d times, the last)", d.Times)
		}
		k.Events = append(k.Events, e)
	}
	return m.Story(i, k), nil
}
