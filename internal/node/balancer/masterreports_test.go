package balancer

import (
	"fmt"
	"testing"
	"time"

	"adshard/balance/maps"
	"adshard/internal/node/httpapi/api"
	"adshard/schema/pb"
)

// TestMasterReports: invalid URLs in reports are ignored, and masters whose lease has expired are forgotten when
// others report.
func TestMasterReports(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	shown := func(name string) api.MasterInfo {
		t.Helper()
		var s api.BalanceStatus
		r.b.mu.Lock()
		defer r.b.mu.Unlock()
		r.b.masterReports.addTo(r.b.now(), &s, []maps.MasterStatus{{Name: name}})
		return s.Masters[0]
	}
	for _, c := range []struct{ told, want string }{
		{"http://10.0.0.5:8080", "http://10.0.0.5:8080"}, {"https://[::1]:8080", "https://[::1]:8080"}, {"", ""}, {"10.0.0.5:8080", ""},
		{"http://", ""}, {"file:///etc/passwd", ""}, {"http://a@b:1", ""}, {"http://a/x", ""}, {"http://a?x=1", ""}, {"javascript:alert(1)", ""},
	} {
		r.b.recordMasterReport(&pb.WatchMapRequest{Master: "m", QueryUrl: c.told})
		if got := shown("m"); got.URL != c.want || got.Traffic != nil || got.TimeoutMs != 0 {
			t.Errorf("%q: %+v, want %q", c.told, got, c.want)
		}
	}
	r.b.recordMasterReport(&pb.WatchMapRequest{Master: "m", TimeoutMs: 250})
	if got := shown("m"); got.TimeoutMs != 250 {
		t.Errorf("%+v", got)
	}
	r.b.recordMasterReport(&pb.WatchMapRequest{QueryUrl: "http://nameless:1"})
	if n := len(r.b.masterReports); n != 1 {
		t.Errorf("%d masters, one has told", n)
	}
	r.b.mu.Lock()
	r.b.masterReports["m"].received -= r.b.cfg.MasterLease + time.Second
	r.b.mu.Unlock()
	for i := range 3 {
		r.b.recordMasterReport(&pb.WatchMapRequest{Master: fmt.Sprint("m", i)})
	}
	if n := len(r.b.masterReports); n != 3 || r.b.masterReports["m"] != nil {
		t.Errorf("%d masters are kept", n)
	}
}
