package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/node/certs"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/porttest"
)

// alarmed is a cluster that Prometheus watches.
type alarmed struct {
	*testing.T
	*clustertest.Client // for the balancer's admin port
	db                  *nodetest.Database
	prometheus          *prometheus
	url                 string            // base URL of the master
	targets             map[string]string // admin ports, HOST:PORT, by process name

	parts   map[string]*clustertest.Process
	dirs    map[string]string // directories of slaves
	listens map[string]string // addresses of slaves

	authority *certs.Authority // signs certificates
	events    string           // URL for events

	undo func() // ends the current cause; set by causes that need it
}

// newAlarmed makes a database with 400 keywords for a cluster that does not run yet.
func newAlarmed(t *testing.T) *alarmed {
	t.Helper()
	r := &alarmed{T: t, db: nodetest.NewDatabase(t), targets: make(map[string]string), parts: make(map[string]*clustertest.Process),
		dirs: make(map[string]string), listens: make(map[string]string)}
	r.db.Write(20, 4, 5, 1_000_000)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return r
}

// closed closes the database and returns the path of its file, which then has all data.
func (r *alarmed) closed() string {
	r.Helper()
	r.must(r.db.DB.Close())
	return r.db.Path
}

// watched starts Prometheus, once all targets are known; admin is the balancer's admin port.
func (r *alarmed) watched(admin string) {
	r.Helper()
	var targets []string
	for _, address := range r.targets {
		targets = append(targets, address)
	}
	r.prometheus = startPrometheus(r.T, strings.Join(targets, `", "`), cutTimes)
	r.Client = clustertest.NewClient(time.Minute, nil, "http://"+admin)
	r.Cleanup(r.Client.Close)
}

// times matches the times of alerts: how long a condition must last, and the range over which it is measured.
var times = regexp.MustCompile(`(for: |\[)(\d+)([mh])\b`)

// cutTimes shortens the times of rules. A minute becomes half a second, which is two scrapes, in a range, and a tenth
// of a second in a "for"; an hour in a "for" becomes a second.
func cutTimes(rules string) string {
	return times.ReplaceAllStringFunc(rules, func(of string) string {
		part := times.FindStringSubmatch(of)
		n, _ := strconv.Atoi(part[2]) // digits
		switch {
		case part[1] == "[":
			n *= 500
		case part[3] == "h":
			n *= 1000
		default:
			n *= 100
		}
		return part[1] + strconv.Itoa(n) + "ms"
	})
}

// awaits waits until an alert fires or, if fires is false, until it does not.
func (r *alarmed) awaits(alert string, fires bool, when string) {
	r.Helper()
	query := fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, alert)
	for end := time.Now().Add(clustertest.Patience); (r.prometheus.count(r.T, query) > 0) != fires; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("%s: %s fires: %v, want %v; its series: %s", when, alert, !fires, fires, r.seriesOf(alert))
		}
	}
}

// seriesOf returns the current values of an alert's series, for error messages.
func (r *alarmed) seriesOf(alert string) (text string) {
	for _, rule := range alertRules(r.T) {
		if rule.Alert == alert {
			for _, series := range seriesOf(rule.Expr) {
				text += fmt.Sprintln(series, r.prometheus.ask(r.T, series))
			}
		}
	}
	return text
}

// must ends the test if err is not nil.
func (r *alarmed) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// until waits until ok returns true.
func (r *alarmed) until(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(clustertest.Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not within %v: %s", clustertest.Patience, what)
		}
	}
}

// part configures a process with an admin port that Prometheus watches.
func (r *alarmed) part(command, name, ready string, config map[string]any) *clustertest.Process {
	r.Helper()
	config["admin"] = porttest.Address(r.T)
	r.targets[name] = config["admin"].(string)
	r.parts[name] = clustertest.NewProcess(r.T, command, name, ready, config)
	return r.parts[name]
}

// slave configures a slave.
func (r *alarmed) slave(i int, dir, balancer string, more map[string]any) *clustertest.Process {
	r.Helper()
	name := fmt.Sprint("slave-", i)
	config := map[string]any{"name": name, "dir": dir, "listen": porttest.Address(r.T), "balancer": balancer, "memory": 256 << 20}
	for key, value := range more {
		config[key] = value
	}
	r.dirs[name], r.listens[name] = dir, config["listen"].(string)
	return r.part("slave", name, "slave ", config)
}

func (r *alarmed) start(names ...string) {
	r.Helper()
	for _, name := range names {
		if err := r.parts[name].Start(); err != nil {
			r.Fatalf("start %s: %v", name, err)
		}
	}
}

// asked makes some clients ask one query after the other until stop is called, with a pause between queries, which
// may be 0.
func (r *alarmed) asked(clients int, pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	for client := range clients {
		asking.Go(func() {
			for n := client; ctx.Err() == nil; n++ {
				r.ask(ctx, fmt.Sprintf("word%d usb%d cable", n%5, n/5%4))
				time.Sleep(pause)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); asking.Wait() })
	r.Cleanup(stop)
	return stop
}

// ask sends a query, and reports whether the answer is complete.
func (r *alarmed) ask(ctx context.Context, query string) bool {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/v1/search?timeout_ms=5000&q="+strings.ReplaceAll(query, " ", "+"), nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err == nil && strings.Contains(string(body), `"complete":true`)
}

// whole waits until answers are complete.
func (r *alarmed) whole() {
	r.Helper()
	r.until("complete answers", func() bool { return r.ask(r.Context(), "usb cable") })
}

// post sends a command to the balancer.
func (r *alarmed) post(path string, body any) {
	r.Helper()
	r.must(r.Post(r.Context(), path, body))
}

// sliceOf is the balancer's information on a slice.
type sliceOf struct {
	Slice uint64
	Slave string
	To    string
	Items uint64
}

// slicesOn returns the slices of a slave that are not being moved.
func (r *alarmed) slicesOn(slave string) (list []sliceOf) {
	r.Helper()
	var all struct{ Slices []sliceOf }
	r.must(r.Get("/v1/balance/slices", &all))
	for _, s := range all.Slices {
		if s.Slave == slave && s.To == "" && s.Items > 0 {
			list = append(list, s)
		}
	}
	return list
}

// moves begins a move of any slice from one slave to another.
func (r *alarmed) moves(from, to string) {
	r.Helper()
	r.until("a move begins", func() bool { return r.moveOne(from, to) })
}

// moveOne begins to move a slice, and reports whether there was one that may move now.
func (r *alarmed) moveOne(from, to string) bool {
	for _, s := range r.slicesOn(from) {
		if r.Post(r.Context(), "/v1/balance/move", map[string]any{"slice": s.Slice, "slave": to}) == nil {
			return true
		}
	}
	return false
}
