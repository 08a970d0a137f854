package balancer

import (
	"net/url"
	"time"

	"adshard/balance/maps"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/traffic"
	"adshard/schema/pb"
)

// toldByMasters is what masters tell beside what they need the balancer for, by name. Nothing is decided by it.
type toldByMasters map[string]*toldByMaster

// toldByMaster is where one takes queries ("": it is not known), and what it answers.
type toldByMaster struct {
	url     string
	traffic traffic.Window
	heard   time.Duration // when it told, by the balancer's clock
}

// noteTold keeps what a master tells that noteMaster has admitted.
func (b *Balancer) noteTold(r *pb.WatchMapRequest) {
	if r.GetMaster() == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		b.told = make(toldByMasters)
	}
	now := b.now()
	m := b.told[r.GetMaster()]
	if m == nil {
		b.told.forget(now - b.cfg.MasterLease)
		m = new(toldByMaster)
		b.told[r.GetMaster()] = m
	}
	m.url, m.heard = queryURL(r.GetQueryUrl()), now
	m.traffic.Add(now, r.GetTraffic())
}

// forget drops masters that were not heard since a time: those that are left have leases, of which the mapper
// bounds the number.
func (t toldByMasters) forget(before time.Duration) {
	for name, m := range t {
		if m.heard < before {
			delete(t, name)
		}
	}
}

// queryURL returns a URL that a master tells if it is the beginning of one for queries, else "".
func queryURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return text
}

// show adds masters and what they told to a status of a time of the balancer's clock.
func (t toldByMasters) show(now time.Duration, s *api.BalanceStatus, masters []maps.MasterStatus) {
	var all []*traffic.Window
	for _, v := range masters {
		info := api.MasterInfo{Name: v.Name, View: v.View, SeenMs: v.SilentFor.Milliseconds()}
		if m := t[v.Name]; m != nil {
			info.URL, info.Traffic, all = m.url, trafficOf(now, &m.traffic), append(all, &m.traffic)
		}
		s.Masters = append(s.Masters, info)
	}
	s.Traffic = trafficOf(now, all...)
}

// trafficOf returns what masters answer together; nil: it is not known.
func trafficOf(now time.Duration, masters ...*traffic.Window) *api.Traffic {
	r := traffic.Lately(now, masters...)
	if r.Over == 0 {
		return nil
	}
	return &api.Traffic{
		OverMs: max(1, r.Over.Milliseconds()), PerSecond: r.PerSecond, Incomplete: r.Incomplete, Refused: r.Refused, Failed: r.Failed,
		P50Micros: r.P50.Microseconds(), P99Micros: r.P99.Microseconds(),
	}
}
