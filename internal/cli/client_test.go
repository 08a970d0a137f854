package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnotherAdminPortIsNotTheBalancers: a question to a master, which has the default port, is answered with
// the balancer's port.
func TestAnotherAdminPortIsNotTheBalancers(t *testing.T) {
	master := httptest.NewServer(http.NotFoundHandler())
	defer master.Close()
	status, _, errOut := run(t, "adshard", "balance", "status", "--addr", master.URL)
	if status != exitFailed || !strings.Contains(errOut, "404") || !strings.Contains(errOut, "7001") {
		t.Errorf("%d %q", status, errOut)
	}
}
