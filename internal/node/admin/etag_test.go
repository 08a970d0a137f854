package admin_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestWeakETags: If-None-Match accepts an ETag that a proxy has made weak, for every kind of entity. If-Match never accepts a weak one, not
// even the right one.
func TestWeakETags(t *testing.T) {
	w := newWorld(t)
	w.fill()
	for _, path := range []string{"/v1/advertisers/1", "/v1/campaigns/1", "/v1/groups/1", "/v1/keywords/1?group=1", "/v1/negatives/1?group=1", "/v1/ads/1?group=1"} {
		tag := w.must(http.MethodGet, path, "").header.Get("ETag")
		for _, c := range []struct {
			tags   string
			status int
		}{
			{tag, 304}, {"W/" + tag, 304}, {`"x", W/"y,z" , W/` + tag, 304}, {"*", 304},
			{`"x"`, 200}, {"w/" + tag, 200}, {"W/W/" + tag, 200}, {strings.Trim(tag, `"`), 200}, {"", 200},
		} {
			a := w.ask(http.MethodGet, path, "", "If-None-Match", c.tags)
			if a.status != c.status || a.header.Get("ETag") != tag {
				t.Errorf("%s: If-None-Match: %s: %d, ETag %s", path, c.tags, a.status, a.header.Get("ETag"))
			}
		}
		if a := w.ask(http.MethodDelete, path, "", "If-Match", "W/"+tag); a.status != http.StatusPreconditionFailed || !strings.Contains(a.body, "weak") {
			t.Errorf("%s: a weak ETag in If-Match: %d %s", path, a.status, a.body)
		}
		if now := w.must(http.MethodGet, path, "").header.Get("ETag"); now != tag {
			t.Errorf("%s: it has changed", path)
		}
	}
}
