package freshness

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend/sqlite"
)

// TestCourseFails: a course fails if answers stay old or have ads of others, and leaves
// nothing in the database.
func TestCourseFails(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for want, url := range map[string]string{"no answer has shown a change": addressOf + "0", "not an ad of this measurement": "https://shop.example/"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"ads":[{"final_url":%q}]}`, url)
		}))
		c := Course{Store: store, Search: s.URL, Groups: 2, Asked: 1, Rate: 100, Duration: 50 * time.Millisecond, Patience: 200 * time.Millisecond}
		if _, err := c.Measure(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		s.Close()
	}
	for _, c := range []Course{{Groups: 1}, {Groups: 1, Asked: 2, Rate: 1, Duration: 1}, {Groups: 1, Asked: 1, Duration: 1}} {
		if _, err := c.Measure(t.Context()); err == nil {
			t.Errorf("%+v was measured", c)
		}
	}
	n, err := store.Counts(t.Context())
	if err != nil || n.Advertisers != 0 {
		t.Errorf("left: %+v, %v", n, err)
	}
}
