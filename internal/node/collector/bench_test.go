package collector_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// BenchmarkEvents sends batches of 500 new events over HTTP, from four clients in this process.
func BenchmarkEvents(b *testing.B) {
	const size, clients = 500, 4
	r := newRig(b, 1000)
	c := r.run("collector-0")
	ring := r.ring()
	bodies := make(chan string, 4*clients)
	var sending sync.WaitGroup
	for range clients {
		sending.Go(func() {
			for body := range bodies {
				res, err := http.Post(c.URL()+"/v1/events", "application/json", strings.NewReader(body))
				if err != nil || res.StatusCode != http.StatusOK {
					b.Error(err, res)
					return
				}
				_ = res.Body.Close()
			}
		})
	}
	list := make([]string, size)
	for b.Loop() {
		for i := range list {
			list[i] = event([]string{"impression", "click"}[i%2], r.sign(ring, uint64(1+i), 10_000))
		}
		bodies <- batch(list...)
	}
	close(bodies)
	sending.Wait()
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "events/s")
}
