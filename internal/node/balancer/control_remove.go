package balancer

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
)

// RemoveSlave implements admin.Control.
func (c adminControl) RemoveSlave(ctx context.Context, name string) (*api.SlaveRemoved, error) {
	out, planned, begin := &api.SlaveRemoved{Name: name}, false, time.Now()
	err := c.step(func() error {
		if n, known := c.slaves[name]; known {
			out.Address = n.address
		}
		if m := c.newSurvey(); m != nil {
			planned = true
			s, known := m.In.Model.Slave(name)
			if _, err := m.Named(name); err != nil && !known {
				return err
			}
			out.Address = s.Address
		}
		return c.mapper.Remove(c.now(), name)
	})
	if err != nil {
		return nil, err
	}
	if planned {
		err = c.waitForModel(ctx, name+" is to be removed", func(m *balance.Model) bool {
			_, known := m.Slave(name)
			return !known
		})
		if err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.slaves[name]; n != nil && n.seen.Before(begin) { // otherwise the slave has come back meanwhile
		delete(c.slaves, name)
	}
	c.surveyed = nil // the survey still has the slave
	return out, nil
}
