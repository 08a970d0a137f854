package balancer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adshard/internal/node/admin"
	"adshard/internal/node/admission"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/survey"
)

// aliveFor is how long after its last report a slave is considered alive.
const aliveFor = 5 * time.Second

// adminControl shows the balancer to its admin port (admin.Control).
type adminControl struct{ *Balancer }

var _ admin.Control = adminControl{}

// SlavesList implements admin.Control.
func (c adminControl) SlavesList(context.Context) (*api.SlaveList, error) {
	status := c.Status()
	list := &api.SlaveList{Epoch: status.Epoch, View: status.View, Clock: status.Clock, Slaves: []api.Slave{}, Refused: c.refused()}
	for _, s := range c.Balancer.SlavesList() {
		var seen *int64
		if s.Registered {
			seen = &s.SeenMs
		}
		list.Slaves = append(list.Slaves, api.Slave{
			Name:          s.Name,
			Address:       s.Address,
			State:         survey.State(s.State),
			Alive:         s.Registered && s.SeenMs < aliveFor.Milliseconds(),
			Serving:       s.Serving,
			Slices:        s.Slices,
			MovingIn:      s.MovingIn,
			MovingOut:     s.MovingOut,
			SharePermille: int(s.Width*1000 + 0.5),
			Load:          s.Load,
			OverMean:      s.OverMean,
			Groups:        s.Groups,
			Keywords:      s.Keywords,
			Bytes:         s.Bytes,
			AppliedClock:  status.Clock - min(s.Behind, status.Clock),
			Distributor:   s.Distributor,
			Trouble:       s.Trouble,
			TroubleKind:   s.TroubleKind,
			Shard:         s.Shard,
			Zone:          s.Zone,
			WaitsFor:      s.WaitsFor,
			SeenMs:        seen,
		})
	}
	slices.SortFunc(list.Slaves, func(a, b api.Slave) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// refused returns the slaves that were refused lately, and those whose directory is a copy of another slave's.
func (c adminControl) refused() (list []api.RefusedSlave) {
	for _, r := range c.refusals.List(time.Now()) {
		list = append(list, api.RefusedSlave{Name: r.Name, Address: r.Address, Why: r.Why})
	}
	for _, r := range c.cfg.Credentials.Refused(admission.Remembered) {
		list = append(list, api.RefusedSlave{Name: r.Name, Address: r.From, Why: r.Why})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.slaves)) {
		n := c.slaves[name]
		if !n.copy {
			continue
		}
		if why := copied(c.slaves, c.mapper.Model(), name, n.instance); why != "" {
			list = append(list, api.RefusedSlave{Name: name, Address: n.address, Why: why})
		}
	}
	return list
}

// ready returns why the balancer cannot do its work, and the slices that slaves had to stop
// serving.
func (c adminControl) ready() []string {
	why := c.health.With(c.db)
	if waiting := c.Status().Waiting; waiting != "" {
		why = append(why, waiting)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.mapper.Status(c.now()).Scrub.Condemned {
		why = append(why, fmt.Sprintf("%s must discard slice %d: %s", d.Slave, d.Slice, d.Reason))
	}
	for _, name := range slices.Sorted(maps.Keys(c.slaves)) {
		if lacking := c.slaves[name].state.GetLacking(); lacking != "" {
			why = append(why, name+": "+lacking)
		}
	}
	return why
}
