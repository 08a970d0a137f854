package apiclient

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// TestAMasterOnLoopbackElsewhere: if the balancer of another machine reports a master on loopback, no port of this
// machine is asked for it.
func TestAMasterOnLoopbackElsewhere(t *testing.T) {
	elsewhere := &url.URL{Scheme: "http", Host: "10.0.0.9:8081"}
	body, err := json.Marshal(api.BalanceStatus{Masters: []api.MasterInfo{{URL: "http://127.0.0.1:8080"}, {URL: "http://localhost"}, {URL: "http://[::1]:8080"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{Base: elsewhere, HTTP: &http.Client{Transport: answerOf{body}}}
	if found, err := FindMaster(t.Context(), c); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%s %v", found, err)
	}
}

// answerOf is a transport that answers every request with the same body.
type answerOf struct{ body []byte }

func (a answerOf) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}
