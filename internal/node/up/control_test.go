package up

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
)

// adminOf asks the admin port of a cluster and holds answers against the
// document.
type adminOf struct {
	t   *testing.T
	d   *apitest.Document
	url string
}

// call makes a call; path is the document's, at the one asked for.
func (a *adminOf) call(method, path, at, body string, status int, into any) string {
	a.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, a.url+at, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		a.t.Fatalf("%s %s: %d %s %v; want %d", method, at, res.StatusCode, text, err, status)
	}
	a.d.Answers(a.t, path, method, res, string(text))
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			a.t.Fatal(err)
		}
	}
	return string(text)
}

func (a *adminOf) eventually(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			a.t.Fatalf("not within %v: %s; %s", patience, what, a.call("GET", "/v1/balance", "/v1/balance", "", 200, nil))
		}
	}
}

func (a *adminOf) status() (s api.BalanceStatus) {
	a.call("GET", "/v1/balance", "/v1/balance", "", 200, &s)
	return s
}

func (a *adminOf) why(slice string) (s api.SliceStory) {
	a.call("GET", "/v1/balance/why/{slice}", "/v1/balance/why/"+slice, "", 200, &s)
	return s
}

// TestControlOfACluster asks and tells a real cluster everything that its admin
// port has; answers fit the document, and what was told happens.
func TestControlOfACluster(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 60))
	cfg.Slaves, cfg.Strategy, cfg.Order, cfg.Interval = 3, "original", "advertiser", 200*time.Millisecond
	c := startUp(t, cfg)
	a := &adminOf{t, apitest.Read(t, httpapi.Spec), c.admin}

	s := a.status()
	if s.View == 0 || s.Strategy != "original" || len(s.Slaves) != 3 || s.Items != 60 || s.MaxOverMean < 1 || s.LowerBound < 1 ||
		len(s.Distributors) != 1 || len(s.Distributors[0].Slaves) != 3 {
		t.Errorf("%+v", s)
	}
	var list api.SliceList
	a.call("GET", "/v1/balance/slices", "/v1/balance/slices?slave=slave-0", "", 200, &list)
	if list.Total == 0 || len(list.Slices) != list.Total || list.Slices[0].Slave != "slave-0" {
		t.Fatalf("%+v", list)
	}
	slice := strconv.FormatUint(list.Slices[0].Slice, 10)
	a.call("GET", "/v1/balance/plan", "/v1/balance/plan", "", 200, nil)
	var strategies api.StrategyList
	a.call("GET", "/v1/balance/strategies", "/v1/balance/strategies", "", 200, &strategies)
	a.call("GET", "/v1/balance/history", "/v1/balance/history", "", 200, nil)
	for _, v := range strategies.Strategies {
		if v.Current != (v.Name == "original") || v.Summary == "" {
			t.Errorf("%+v", v)
		}
	}
	if v := a.why(slice); v.Verdict == api.SliceVerdictMoved || v.Slave != "slave-0" {
		t.Errorf("%+v", v)
	}

	a.refusals(slice)

	var move api.SliceMove
	a.call("POST", "/v1/balance/move", "/v1/balance/move", `{"slice":`+slice+`,"slave":"slave-1"}`, 200, &move)
	if move.From != "slave-0" || move.To != "slave-1" || move.Items == 0 {
		t.Errorf("%+v", move)
	}
	if v := a.why(slice); v.Move == nil || v.Verdict != api.SliceVerdictMoving || v.Move.Cause == "" {
		t.Errorf("%+v", v)
	}
	a.eventually("the slice is moved", func() bool { v := a.why(slice); return v.Move == nil })
	if v := a.why(slice); v.Verdict != api.SliceVerdictMoved && v.Verdict != api.SliceVerdictStuck || v.Slave != "slave-1" || len(v.Events) == 0 {
		t.Errorf("%+v", v)
	}
	if s := a.status(); s.Moved.Moves != 1 || s.Moved.Items != move.Items || s.Moved.Bytes == 0 || len(s.Events) == 0 {
		t.Errorf("%+v", s)
	}
	if got := c.search(t, "usb cable"); !got.Coverage.Complete || got.Matched != 60 {
		t.Errorf("%+v", got)
	}
	a.steer()
	a.drain(c)
	text := get(t, c.admin+"/metrics", http.StatusOK)
	for _, want := range []string{
		`adshard_balancer_moves_total{node="balancer",outcome="switched"}`, `adshard_balancer_slave_over_mean{node="balancer",slave="slave-2"}`,
		`adshard_balancer_certificates_total{node="balancer",outcome="different"} 0`, `adshard_balancer_slaves{node="balancer",state="drained"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

// refusals: what cannot be is refused with what to do.
func (a *adminOf) refusals(slice string) {
	for _, c := range []struct {
		method, path, at, body string
		status                 int
		says                   string
	}{
		{"POST", "/v1/balance/move", "", `{"slice":999999,"slave":"slave-1"}`, 404, "`adshard balance slices` lists them"},
		{"POST", "/v1/balance/move", "", `{"slice":` + slice + `,"slave":"slave-9"}`, 404, "there are slave-0, slave-1 and slave-2"},
		{"POST", "/v1/balance/move", "", `{"slice":` + slice + `,"slave":"slave-0"}`, 409, "already"},
		{"POST", "/v1/balance/strategy", "", `{"name":"best"}`, 404, "weighted-move"},
		{"POST", "/v1/balance/strategy", "", `{"name":"random","options":{"luck":"7"}}`, 400, "luck"},
		{"GET", "/v1/balance/why/{slice}", "/v1/balance/why/999999", "", 404, "`adshard balance slices` lists them"},
		{"GET", "/v1/balance/slices", "/v1/balance/slices?slave=slave-9", "", 404, "there are slave-0"},
		{"POST", "/v1/slaves/{name}/drain", "/v1/slaves/slave-9/drain", "", 404, "there are slave-0"},
		{"POST", "/v1/slaves", "", `{"address":"nowhere"}`, 400, "HOST:PORT"},
		{"POST", "/v1/slaves", "", `{"address":"127.0.0.1:1"}`, 503, "is it running there"},
	} {
		at := c.at
		if at == "" {
			at = c.path
		}
		if text := a.call(c.method, c.path, at, c.body, c.status, nil); !strings.Contains(text, c.says) {
			a.t.Errorf("%s: %s; want %q", at, text, c.says)
		}
	}
}

// steer pauses, resumes and changes the strategy.
func (a *adminOf) steer() {
	a.call("POST", "/v1/balance/pause", "/v1/balance/pause", "", 200, nil)
	if !a.status().Paused {
		a.t.Error("it is not paused")
	}
	a.call("POST", "/v1/balance/strategy", "/v1/balance/strategy", `{"name":"weighted-move","options":{"tolerance":"0.5"}}`, 200, nil)
	if s := a.status(); s.Strategy != "weighted-move" || s.Options["tolerance"] != "0.5" {
		a.t.Errorf("%+v", s)
	}
	a.call("POST", "/v1/balance/resume", "/v1/balance/resume", "", 200, nil)
	a.eventually("the other strategy was asked", func() bool { s := a.status(); return !s.Paused && s.Last != nil && len(s.Shadows) > 0 })
}

// drain empties a slave and takes it back.
func (a *adminOf) drain(c *cluster) {
	for range 2 { // again changes nothing
		var v api.SlaveChange
		a.call("POST", "/v1/slaves/{name}/drain", "/v1/slaves/slave-2/drain", "", 200, &v)
		if v.State == api.SlaveStateActive || v.Name != "slave-2" {
			a.t.Errorf("%+v", v)
		}
	}
	slave := func() (out api.Slave) {
		var list api.SlaveList
		a.call("GET", "/v1/slaves", "/v1/slaves", "", 200, &list)
		for _, v := range list.Slaves {
			if v.Name == "slave-2" {
				out = v
			}
		}
		return out
	}
	a.eventually("slave-2 is drained", func() bool { return slave().State == api.SlaveStateDrained })
	if v := slave(); v.Slices != 0 || v.Groups != 0 {
		a.t.Errorf("%+v", v)
	}
	if got := c.search(a.t, "usb cable"); !got.Coverage.Complete || got.Matched != 60 {
		a.t.Errorf("%+v", got)
	}
	var v api.SlaveChange
	a.call("POST", "/v1/slaves", "/v1/slaves", `{"address":"`+slave().Address+`"}`, 200, &v)
	if v.State != api.SlaveStateActive || v.Name != "slave-2" {
		a.t.Errorf("%+v", v)
	}
}
