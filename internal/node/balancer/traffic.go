package balancer

import (
	"time"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/traffic"
	"adshard/schema/pb"
)

// mastersTraffic is what masters told of the searches that they answer, by name.
type mastersTraffic map[string]*traffic.Window

// note keeps what a master tells, which the mapper knows. Nil: it tells nothing.
func (t *mastersTraffic) note(master string, now time.Duration, m *pb.Traffic) {
	if m == nil {
		return
	}
	if *t == nil {
		*t = make(mastersTraffic)
	}
	w := (*t)[master]
	if w == nil {
		w = new(traffic.Window)
		(*t)[master] = w
	}
	w.Add(now, m)
}

// show adds to a status what masters answer, each and together, and forgets those that are gone.
func (t mastersTraffic) show(s *api.BalanceStatus, masters []balance.MasterStatus) {
	there := make(map[string]bool, len(masters))
	var all []*traffic.Window
	for _, v := range masters {
		there[v.Name] = true
		info := api.MasterInfo{Name: v.Name, View: v.View, SeenMs: v.SilentFor.Milliseconds()}
		if w := t[v.Name]; w != nil {
			info.Traffic, all = trafficOf(w), append(all, w)
		}
		s.Masters = append(s.Masters, info)
	}
	for name := range t {
		if !there[name] {
			delete(t, name)
		}
	}
	s.Traffic = trafficOf(all...)
}

// trafficOf returns what masters answer together; nil: it is not known yet.
func trafficOf(masters ...*traffic.Window) *api.Traffic {
	r := traffic.Lately(masters...)
	if r.Over == 0 {
		return nil
	}
	return &api.Traffic{
		OverMs: r.Over.Milliseconds(), PerSecond: r.PerSecond, Incomplete: r.Incomplete, Refused: r.Refused, Failed: r.Failed,
		P50Micros: r.P50.Microseconds(), P99Micros: r.P99.Microseconds(),
	}
}
