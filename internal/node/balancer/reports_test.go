package balancer

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/internal/node/admin"
	"adshard/internal/node/hostiletest"
	"adshard/internal/node/metrics"
	"adshard/internal/node/traffic"
	"adshard/schema/pb"
)

// extremes are counts that are at a bound, beyond it, or overflow when they are added, multiplied or converted.
var extremes = []uint64{0, 1, 1 << 31, 1e12, 1e12 + 1, 1 << 53, 1<<53 + 1, 1<<63 - 1, 1 << 63, math.MaxUint64}

// TestReportsThatLie: a slave that registered truthfully reports arbitrary values for its load, its store and its copy. Each
// report is newer than the previous one, so none is ignored as late. Whatever it reports, every page and metric of the
// balancer can be read, and no load is negative or not a number. When the slave reports the truth again, that is accepted.
func TestReportsThatLie(t *testing.T) {
	r := newRig(t, 1)
	r.Write(5, 3, 3, 1_000_000)
	r.start()
	r.slave("slave-0")
	r.eventually("filled", r.whole)
	r.stopSlave("slave-0")
	l := r.liar("slave-0")
	pages := r.pages()
	hostiletest.Each(l.report(), func(field string, m proto.Message) {
		lie := m.(*pb.ReportRequest)
		l.number++
		if !strings.HasSuffix(field, "load.number") && lie.GetLoad() != nil {
			lie.Load.Number = l.number
		}
		l.tell(field, lie)
	})
	pages(t, "each field")
	l.begin() // the number it used may have been the greatest
	for _, interval := range []uint64{0, 1, 1000, 3_600_000, 3_600_001, math.MaxUint64} {
		for _, count := range extremes {
			lie := l.report()
			lie.Load.IntervalMs, lie.Load.Queries = interval, count
			for _, c := range costs(lie.Load) {
				c.Examined, c.Matched, c.Micros = count, count, count
			}
			l.tell("all together", lie)
		}
		pages(t, "all together")
	}
	for range 100 {
		l.tell("the truth", l.report())
	}
	status, err := adminControl{r.b}.BalanceStatus(t.Context())
	if r.Must(err); !status.Measured || status.IgnoredLoads["absurd"] == 0 {
		t.Errorf("what is told truly is not taken, or nothing was found absurd: %v", status.IgnoredLoads)
	}
	pages(t, "the truth")
	r.slave("slave-0")
	r.Write(6, 3, 3, 1_000_000)
	r.eventually("whole after a change", r.whole)
}

// liar is a registered slave that does not follow the protocol.
type liar struct {
	r        *rig
	balancer pb.BalancerClient
	register *pb.RegisterRequest
	epoch    uint64
	number   uint64
}

// liar registers in place of a stopped slave, with its name, address and data.
func (r *rig) liar(name string) *liar {
	store := r.slaves[name].store
	l := &liar{r: r, balancer: pb.NewBalancerClient(r.stranger()), epoch: r.b.Epoch(), register: &pb.RegisterRequest{Name: name,
		Address: name + ".example:1", Slices: store.Slices(), Position: store.Position()}}
	l.begin()
	return l
}

// begin registers as a new process, so that the numbering of reports starts again.
func (l *liar) begin() {
	l.r.T.Helper()
	l.register.Incarnation += "x"
	l.number = 0
	if _, err := l.balancer.Register(shortly(l.r.T), l.register); err != nil {
		l.r.T.Fatal(err)
	}
}

// report returns a truthful report.
func (l *liar) report() *pb.ReportRequest {
	l.number++
	cost := func() *pb.Cost { return &pb.Cost{Examined: 1000, Matched: 100, Micros: 50} }
	load := &pb.Load{Number: l.number, IntervalMs: 1000, Queries: 500, Items: []*pb.ItemLoad{{Key: 7, Cost: cost()}},
		Topics: []*pb.TopicLoad{{Term: 1, Cost: cost()}}, Pairs: []*pb.PairLoad{{Term: 1, Key: 7, Cost: cost()}}}
	for _, s := range l.register.GetSlices().GetSlices() {
		load.Slices = append(load.Slices, &pb.SliceLoad{Slice: s.GetId(), Generation: s.GetGeneration(), SplitKey: proto.Uint64(7), Cost: cost()})
	}
	return &pb.ReportRequest{Name: l.register.GetName(), Incarnation: l.register.GetIncarnation(), Epoch: l.epoch, Position: l.register.GetPosition(),
		State: &pb.SlaveState{Serving: true, Copying: &pb.CopyState{Source: "slave-1", Bytes: 1, Total: 2, PerSecond: 1}}, Load: load}
}

// costs returns all costs in a report.
func costs(l *pb.Load) (all []*pb.Cost) {
	for _, s := range l.GetSlices() {
		all = append(all, s.Cost)
	}
	return append(all, l.Items[0].Cost, l.Topics[0].Cost, l.Pairs[0].Cost)
}

// tell sends a report. The balancer may refuse it because of its content, but must not fail because of it.
func (l *liar) tell(what string, m *pb.ReportRequest) {
	l.r.T.Helper()
	_, err := l.balancer.Report(shortly(l.r.T), m)
	if fault.Is(err, fault.Internal) || fault.Is(err, fault.Deadline) {
		l.r.T.Errorf("%s: %v\n%v", what, err, m)
	}
}

// pages returns a function that checks everything that the balancer's admin port shows.
func (r *rig) pages() func(t *testing.T, when string) {
	registry := metrics.NewRegistry()
	RegisterMetrics(registry, r.host)
	handler := r.host.AdminHandler(admin.Config{Registry: registry, Ready: r.host.Ready, Log: r.log})
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, http.NoBody))
		return w
	}
	return func(t *testing.T, when string) {
		t.Helper()
		shown := 0
		for _, path := range []string{"/v1/slaves", "/v1/balance", "/v1/balance/slices", "/v1/balance/plan", "/v1/balance/strategies", "/v1/balance/history", "/metrics"} {
			w := get(path)
			if w.Code != http.StatusOK {
				t.Errorf("after %s: %s: %d %s", when, path, w.Code, w.Body)
				continue
			}
			if path == "/metrics" {
				continue
			}
			var all any
			if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
				t.Errorf("after %s: %s: %v", when, path, err)
			}
			shown++
			negative(t, when+": "+path, all)
		}
		if shown < 3 {
			t.Errorf("%d pages were shown", shown)
		}
	}
}

// negative fails the test for each load, rate or size below 0 in what a page shows.
func negative(t *testing.T, where string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, inside := range v {
			negative(t, where+"."+key, inside)
		}
	case []any:
		for _, inside := range v {
			negative(t, where, inside)
		}
	case float64:
		if v < 0 {
			t.Errorf("%s is %v", where, v)
		}
	}
}

// TestTrafficThatLies: whatever a master reports about its traffic, the status of the cluster can be read, and shares are
// between 0 and 1.
func TestTrafficThatLies(t *testing.T) {
	r := newRig(t, 1)
	r.Write(5, 3, 3, 1_000_000)
	r.start()
	r.slave("slave-0")
	r.eventually("filled", r.whole)
	balancer, pages := pb.NewBalancerClient(r.stranger()), r.pages()
	tell := func(m *pb.Traffic) {
		_, err := balancer.WatchMap(shortly(t), &pb.WatchMapRequest{Master: "liar", WaitMs: 1, Epoch: 1 << 60, Traffic: m})
		if fault.Is(err, fault.Internal) || fault.Is(err, fault.Deadline) {
			t.Errorf("%v: %v", m, err)
		}
	}
	base := new(traffic.Counter).Message()
	told := 0
	for _, before := range extremes {
		for _, after := range extremes {
			for field := range 5 {
				tell(trafficWith(base, field, before))
				tell(trafficWith(base, field, after))
				told++
			}
		}
		time.Sleep(5 * time.Millisecond) // part of a window
		pages(t, "traffic")
		s, err := adminControl{r.b}.BalanceStatus(t.Context())
		if r.Must(err); s.Traffic != nil && (s.Traffic.Incomplete > 1 || s.Traffic.Refused > 1 || s.Traffic.Failed > 1 || s.Traffic.PerSecond < 0) {
			t.Errorf("%+v", s.Traffic)
		}
	}
	if told < 100 {
		t.Errorf("%d lies were told", told)
	}
}

// trafficWith returns a copy of a message in which one count, or all of them, are `n`.
func trafficWith(base *pb.Traffic, field int, n uint64) *pb.Traffic {
	m := proto.Clone(base).(*pb.Traffic)
	all := []*uint64{&m.Complete, &m.Incomplete, &m.Refused, &m.Failed}
	if field < len(all) {
		*all[field] = n
		return m
	}
	for i := range m.Took {
		m.Took[i] = n
	}
	for _, count := range all {
		*count = n
	}
	return m
}
