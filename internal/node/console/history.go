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
	// every is the time between two moments, and columns the number of moments kept, which cover a
	// day.
	every   = 5 * time.Minute
	columns = 288
	// bands is the number of equal parts of the ring whose load is kept.
	bands    = 64
	bandKeys = 1 << 58
	// recorded bounds the slices that are asked for; those with the highest load come first.
	recorded = 20_000
)

// History keeps where the load of the ring was over the last day, in steps of a few minutes. It takes
// some 300 KiB. The zero value is empty.
type History struct {
	mu     sync.Mutex
	list   []moment       // oldest first
	shards map[string]int // the colour of each shard, fixed when it was first seen
}

// moment is a sample of the ring.
type moment struct {
	at   time.Time
	ring [bands]band
}

// band is a part of the ring: its heat (arc.Heat), and the shard that has most of its keys.
type band struct {
	heat  int8
	shard string
}

// Run records what the calls of a balancer's admin port report, until ctx is done. It returns at once
// if the port does not have these calls.
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
			list, err := observe(ctx, port)
			if statusOf(err) == http.StatusNotFound {
				return
			}
			if err == nil && list != nil {
				h.record(now, list)
			}
		}
	}
}

// due reports whether it is time to record a moment.
func (h *History) due(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.list) == 0 || now.Sub(h.list[len(h.list)-1].at) >= every
}

// observe asks for the slices. The result is nil as long as there is no plan.
func observe(ctx context.Context, port http.Handler) (*api.SliceList, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Host = "localhost"
	status := new(api.BalanceStatus)
	if err := ask(port, r, http.MethodGet, "/v1/balance", nil, nil, status); err != nil || len(status.Slaves) == 0 {
		return nil, err
	}
	list := new(api.SliceList)
	return list, ask(port, r, http.MethodGet, "/v1/balance/slices", url.Values{"limit": {strconv.Itoa(recorded)}}, nil, list)
}

// record adds a moment, and drops the oldest if there are too many.
func (h *History) record(now time.Time, list *api.SliceList) {
	m := moment{at: now, ring: ringOf(list.Slices)}
	h.colours(shardsOf(list.Slices))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, m)
	if len(h.list) > columns {
		h.list = append([]moment(nil), h.list[len(h.list)-columns:]...)
	}
}

// ringOf returns the heat and the shard of each band of the ring.
func ringOf(list []api.SliceInfo) (ring [bands]band) {
	share, shard := divide(list)
	for i := range ring {
		ring[i] = band{int8(heat(share[i], 1.0/bands)), shard[i]}
	}
	return ring
}

// divide distributes the load of slices over the bands in proportion to their keys. The shard of a
// band is the one whose slice has most of its keys.
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

// moments returns the moments that are kept; callers must not change them.
func (h *History) moments() []moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]moment(nil), h.list...)
}

// colours returns the colour of every shard that was ever seen, after adding `names`. All pictures
// take their colours from here, and a shard keeps its colour when another one comes or goes.
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
