package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnotherAdminPortIsNotTheBalancers: if a master answers at the default port instead of the balancer, the error
// names the balancer's port.
func TestAnotherAdminPortIsNotTheBalancers(t *testing.T) {
	master := httptest.NewServer(http.NotFoundHandler())
	defer master.Close()
	status, _, errOut := run(t, "adshard", "balance", "status", "--addr", master.URL)
	if status != exitFailed || !strings.Contains(errOut, "404") || !strings.Contains(errOut, "7001") {
		t.Errorf("%d %q", status, errOut)
	}
}
