package openloop

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// TestSearchTarget: a request is a GET as long as servers accept its head, and otherwise an
// equivalent POST.
func TestSearchTarget(t *testing.T) {
	short, ok := Search("usb cable", url.Values{"slots": {"3"}})
	if !ok || short.Body != "" || short.Path != "/v1/search?q=usb+cable&slots=3" {
		t.Errorf("%+v, %v", short, ok)
	}
	var domains []string
	for i := range 1000 {
		domains = append(domains, strings.Repeat("x", 20)+string(rune('a'+i%26))+".example")
	}
	for name, more := range map[string]url.Values{"long": {"block_domain": domains}, "placements": {"placement": {`{"id":"top"}`}}} {
		p, ok := Search("usb cable", more)
		var body map[string]any
		if err := json.Unmarshal([]byte(p.Body), &body); !ok || err != nil || p.Path != "/v1/search" || body["q"] != "usb cable" || len(body) != 2 {
			t.Errorf("%s: %v, %v: %.200s", name, ok, err, p.Body)
		}
	}
	if _, ok := Search(" ", nil); ok {
		t.Error("no words make a request")
	}
}
