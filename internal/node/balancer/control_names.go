package balancer

import (
	"adshard/fault"
	"adshard/internal/node/survey"
)

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
