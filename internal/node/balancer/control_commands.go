package balancer

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/survey"
)

const opControl = "balancer: control"

// AddSlave implements admin.Control.
func (c adminControl) AddSlave(ctx context.Context, address string) (*api.SlaveChange, error) {
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || !isPort(port) {
		return nil, fault.Field(opControl, "address", "%q is not an address; write HOST:PORT, the slave's listen or advertise address", address)
	}
	name, err := c.Adopt(ctx, address)
	if fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Deadline) {
		err = fault.Newf(fault.Unavailable, opControl,
			"no slave answers at %s: is it running there, and is that its listen or advertise address? (%v)", address, err)
	}
	if err != nil {
		return nil, err
	}
	planned := true
	err = c.step(func() error {
		model := c.mapper.Model()
		if planned = model != nil; !planned {
			return nil
		}
		if state, known := stateOf(model, name); known && state != balance.Active {
			return c.mapper.Restore(c.now(), name)
		}
		return nil
	})
	if err != nil || !planned {
		return &api.SlaveChange{Name: name, Address: address, State: api.SlaveStateActive}, err
	}
	err = c.waitForModel(ctx, fmt.Sprintf("the slave %s at %s has the balancer's address", name, address), func(m *balance.Model) bool {
		state, known := stateOf(m, name)
		return known && state == balance.Active
	})
	if err != nil {
		return nil, err
	}
	return c.slaveNow(name)
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// DrainSlave implements admin.Control.
func (c adminControl) DrainSlave(ctx context.Context, name string) (*api.SlaveChange, error) {
	err := c.step(func() error {
		m := c.survey()
		if m == nil {
			return c.noPlan()
		}
		state, known := stateOf(c.mapper.Model(), name)
		if _, err := m.Named(name); err != nil && !known {
			return err
		}
		if known && state != balance.Active {
			return nil // the slave is being drained, or is drained
		}
		return c.mapper.Drain(c.now(), name)
	})
	if err != nil {
		return nil, err
	}
	err = c.waitForModel(ctx, name+" is to be drained", func(m *balance.Model) bool {
		state, _ := stateOf(m, name)
		return state != balance.Active
	})
	if err != nil {
		return nil, err
	}
	return c.slaveNow(name)
}

// slaveNow returns the present state of a slave.
func (c adminControl) slaveNow(name string) (*api.SlaveChange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	model := c.mapper.Model()
	state, known := stateOf(model, name)
	if !known {
		return nil, fault.Newf(fault.NotFound, opControl, "there is no slave %s", name)
	}
	at, _ := model.Slave(name)
	out := &api.SlaveChange{Name: name, Address: at.Address, State: survey.State(state)}
	for _, s := range model.Slices() {
		if s.Shard == at.Shard {
			out.Slices++
		}
	}
	return out, nil
}

// stateOf returns the state of a slave: Drained if the slave itself is drained, and otherwise its
// shard's state.
func stateOf(m *balance.Model, name string) (state balance.ShardState, known bool) {
	s, known := m.Slave(name)
	sh, _ := m.Shard(s.Shard)
	if s.Drained {
		return balance.Drained, known
	}
	return sh.State, known
}

// BalanceReplicas implements admin.Control.
func (c adminControl) BalanceReplicas(ctx context.Context, replicas int) error {
	if err := c.step(func() error { return c.mapper.SetReplicas(c.now(), replicas) }); err != nil {
		return err
	}
	return c.waitForModel(ctx, fmt.Sprintf("each slice is to be held by %d slaves", replicas), func(*balance.Model) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.mapper.Settled()
	})
}

// BalanceMove implements admin.Control.
func (c adminControl) BalanceMove(ctx context.Context, slice uint64, slave string) (*api.SliceMove, error) {
	var out *api.SliceMove
	var generation uint64
	err := c.step(func() error {
		m := c.newSurvey()
		if m == nil {
			return c.noPlan()
		}
		i, err := c.find(m, slice)
		if err != nil {
			return err
		}
		if _, err := m.Named(slave); err != nil {
			return err
		}
		s := m.In.Model.Slices()[i]
		generation = s.Generation
		out = &api.SliceMove{
			Slice: slice, From: m.Name(s.Shard), To: slave, Phase: api.MovePhaseCopying,
			Items: uint64(m.Sums[i].Items), Weight: m.Sums[i].Weight, Cause: "by command",
		}
		return c.mapper.Move(c.now(), slice, slave)
	})
	if err != nil {
		return nil, err
	}
	return out, c.waitForModel(ctx, fmt.Sprintf("slice %d is to move to %s", slice, slave), func(m *balance.Model) bool {
		for _, s := range m.Slices() {
			if s.ID == slice {
				return s.Generation != generation
			}
		}
		return true // the slice is gone
	})
}

// BalancePause implements admin.Control.
func (c adminControl) BalancePause(ctx context.Context, paused bool) error {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	if err := c.leadership.savePause(ctx, paused); err != nil {
		return err
	}
	return c.step(func() error { c.mapper.Pause(paused); return nil })
}

// BalanceStrategy implements admin.Control.
func (c adminControl) BalanceStrategy(ctx context.Context, name string, options map[string]string) (*api.StrategyInUse, error) {
	if !slices.Contains(strategy.Names(), name) {
		return nil, fault.Newf(fault.NotFound, opControl, "%s", strategy.Missing(name))
	}
	next, err := strategy.Named(name, options)
	if err != nil {
		return nil, err
	}
	if err := strategy.CheckOrder(name, c.order); err != nil {
		return nil, err
	}
	if options == nil {
		options = map[string]string{}
	}
	c.choosing.Lock()
	defer c.choosing.Unlock()
	if err := c.leadership.saveStrategy(ctx, savedStrategy{Configured: c.configured(), Set: strategyChoice{name, options}}); err != nil {
		return nil, err
	}
	err = c.step(func() error {
		c.steering.options, c.steering.byCommand = options, true
		c.mapper.Use(c.now(), next)
		return nil
	})
	return &api.StrategyInUse{Name: name, Options: options}, err
}
