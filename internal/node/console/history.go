package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
)

const (
	// every is how often the state of balancing is kept, columns how many of these: a day.
	every   = 5 * time.Minute
	columns = 288
	// bands are the equal parts of the ring of which the load is kept.
	bands    = 64
	bandKeys = 1 << 58
	// recorded bounds the slices that are asked for, the most loaded ones.
	recorded = 20_000
)

// History is the state of balancing over the last day, every few minutes. It keeps some 300
// KiB. The zero value has nothing yet.
type History struct {
	mu     sync.Mutex
	list   []moment       // the oldest first
	shards map[string]int // the colour of each, since it was first seen
}

// moment is a sample of the state of balancing.
type moment struct {
	at         time.Time
	max, bound float64
	shadows    map[string]float64 // max/mean that a strategy in shadow would reach
	ring       [bands]band
}

// band is a part of the ring: how hot it is (arc.Heat), and the shard that has most of its keys.
type band struct {
	heat  int8
	shard string
}

// Run keeps what the calls of a balancer's admin port say, until ctx is done. It returns at once
// from a port that does not have them.
func (h *History) Run(ctx context.Context, port http.Handler) {
	ctx = access.With(ctx, access.Identity{Role: access.Reader, Name: "console"})
	tick := time.NewTicker(every / 20)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if !h.due(now) {
				continue
			}
			status, list, err := observe(ctx, port)
			if statusOf(err) == http.StatusNotFound {
				return
			}
			if err == nil && list != nil {
				h.record(now, status, list)
			}
		}
	}
}

// due reports whether it is time for another moment.
func (h *History) due(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.list) == 0 || now.Sub(h.list[len(h.list)-1].at) >= every
}

// observe asks for the state of balancing; the list is nil as long as there is no plan.
func observe(ctx context.Context, port http.Handler) (*api.BalanceStatus, *api.SliceList, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	r.Host = "localhost"
	status := new(api.BalanceStatus)
	if err := ask(port, r, http.MethodGet, "/v1/balance", nil, nil, status); err != nil || len(status.Slaves) == 0 {
		return nil, nil, err
	}
	list := new(api.SliceList)
	err = ask(port, r, http.MethodGet, "/v1/balance/slices", url.Values{"limit": {strconv.Itoa(recorded)}}, nil, list)
	return status, list, err
}

// record keeps a moment, and forgets the oldest when there are too many.
func (h *History) record(now time.Time, status *api.BalanceStatus, list *api.SliceList) {
	m := moment{at: now, max: status.MaxOverMean, bound: status.LowerBound, shadows: make(map[string]float64), ring: ringOf(list.Slices)}
	for _, s := range status.Shadows {
		if s.Failed == "" {
			m.shadows[s.Strategy] = s.MaxOverMean
		}
	}
	h.colours(shardsOf(list.Slices))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, m)
	if len(h.list) > columns {
		h.list = append([]moment(nil), h.list[len(h.list)-columns:]...)
	}
}

// ringOf returns how hot each band of the ring is, and its shard.
func ringOf(list []api.SliceInfo) (ring [bands]band) {
	share, shard := divide(list)
	for i := range ring {
		ring[i] = band{int8(heat(share[i], 1.0/bands)), shard[i]}
	}
	return ring
}

// divide distributes the load of slices over their bands, by keys. The shard of a band is that of the
// most keys.
func divide(list []api.SliceInfo) (share [bands]float64, shard [bands]string) {
	var most [bands]float64
	for _, s := range list {
		all := extent(s)
		for i := all.first / bandKeys; i <= all.last/bandKeys; i++ {
			here := keys{max(all.first, i*bandKeys), min(all.last, i*bandKeys+(bandKeys-1))}
			share[i] += s.Share * here.count() / all.count()
			if here.count() >= most[i] {
				most[i], shard[i] = here.count(), s.Slave
			}
		}
	}
	return share, shard
}

// moments returns what is kept; callers must not change it.
func (h *History) moments() []moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]moment(nil), h.list...)
}

// colours returns the colour of each shard that was ever seen, those of names among them. All
// pictures have them from here, and a shard keeps its own when another one comes or goes.
func (h *History) colours(names []string) map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shards == nil {
		h.shards = make(map[string]int)
	}
	for _, name := range names {
		if _, known := h.shards[name]; !known {
			h.shards[name] = len(h.shards) % colours
		}
	}
	return maps.Clone(h.shards)
}
