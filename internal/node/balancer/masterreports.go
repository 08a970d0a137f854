package balancer

import (
	"net/url"
	"time"

	"adshard/balance/maps"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/traffic"
	"adshard/internal/node/vocabulary"
	"adshard/schema/pb"
)

// masterReports holds the newest reports of masters, by name. They are shown, and say whether a vocabulary can be put in
// force.
type masterReports map[string]*masterReport

// masterReport is the URL at which a master takes queries ("" if unknown), the time limit of its queries (0 if unknown)
// and its traffic.
type masterReport struct {
	url        string
	timeout    time.Duration
	traffic    traffic.Window
	vocabulary string        // the version that it has prepared; "" if it knows no vocabularies
	received   time.Duration // by the balancer's clock
}

// recordMasterReport records the report of a master that noteMaster has admitted.
func (b *Balancer) recordMasterReport(r *pb.WatchMapRequest) {
	if r.GetMaster() == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.masterReports == nil {
		b.masterReports = make(masterReports)
	}
	now := b.now()
	m := b.masterReports[r.GetMaster()]
	if m == nil {
		b.masterReports.forget(now - b.cfg.MasterLease)
		m = new(masterReport)
		b.masterReports[r.GetMaster()] = m
	}
	m.url, m.timeout, m.received = queryURL(r.GetQueryUrl()), time.Duration(r.GetTimeoutMs())*time.Millisecond, now
	m.vocabulary = r.GetVocabulary()
	m.traffic.Add(now, r.GetTraffic())
}

// forget drops masters that have not reported since `before`. All others have leases, and the mapper bounds the
// number of leases.
func (t masterReports) forget(before time.Duration) {
	for name, m := range t {
		if m.received < before {
			delete(t, name)
		}
	}
}

// prepared reports whether all masters that have a lease at a time of the balancer's clock, and that know vocabularies, have prepared a
// version. Masters with a lease of the last leader may not have called within the first lease of a term.
func (t masterReports) prepared(version string, now, lease time.Duration) bool {
	if now < lease {
		return false
	}
	for _, m := range t {
		if m.received >= now-lease && m.vocabulary != "" && m.vocabulary != version {
			return false
		}
	}
	return true
}

// vocabularyOf returns the maker of the vocabulary. It waits for masters that have a lease.
func vocabularyOf(b *Balancer) *vocabulary.Maker {
	return vocabulary.New(vocabulary.Config{
		DB: b.db, Log: b.log, Leads: b.leadership.Valid, Patience: b.cfg.MasterLease,
		Prepared: func(version string) bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.masterReports.prepared(version, b.now(), b.cfg.MasterLease)
		},
	})
}

// queryURL returns `text` if it can be the base URL of a query port, or "".
func queryURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return text
}

// addTo adds masters and their reports to a status taken at `now`.
func (t masterReports) addTo(now time.Duration, s *api.BalanceStatus, masters []maps.MasterStatus) {
	for _, v := range masters {
		info := api.MasterInfo{Name: v.Name, View: v.View, SeenMs: v.SilentFor.Milliseconds()}
		if m := t[v.Name]; m != nil {
			info.URL, info.TimeoutMs, info.Traffic = m.url, uint64(m.timeout.Milliseconds()), trafficMessage(traffic.Lately(now, &m.traffic))
		}
		s.Masters = append(s.Masters, info)
	}
	s.Traffic = trafficMessage(t.rates(now, masters))
}

// rates returns what masters together have answered in the last minute.
func (t masterReports) rates(now time.Duration, masters []maps.MasterStatus) traffic.Rates {
	var all []*traffic.Window
	for _, v := range masters {
		if m := t[v.Name]; m != nil {
			all = append(all, &m.traffic)
		}
	}
	return traffic.Lately(now, all...)
}

// trafficMessage returns rates in the form of the API, or nil if they are unknown.
func trafficMessage(r traffic.Rates) *api.Traffic {
	if r.Over == 0 {
		return nil
	}
	return &api.Traffic{
		OverMs: max(1, r.Over.Milliseconds()), PerSecond: r.PerSecond, Incomplete: r.Incomplete, Refused: r.Refused, Failed: r.Failed,
		P50Micros: r.P50.Microseconds(), P99Micros: r.P99.Microseconds(),
	}
}
