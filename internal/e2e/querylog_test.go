package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/node/querylog"
	"adshard/internal/node/up"
)

// TestSlowQueries: the slowest searches are listed only on the admin port, with their calls to shards, and the
// slowest one with its explanation. They are also recorded. Without the configuration there is no such page.
func TestSlowQueries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queries")
	c := startCluster(t, importEditor(t, []byte(fates), 0), 3, false, "default", func(cfg *up.Config) {
		cfg.SlowQueries.After, cfg.QueryLog.File = time.Nanosecond, file
	})
	c.search(t, url.Values{"q": {"red lamp"}})
	var list []querylog.SlowSearch
	for end := time.Now().Add(clustertest.Patience); len(list) == 0 || list[0].Explanation == nil; time.Sleep(20 * time.Millisecond) {
		if err := json.Unmarshal([]byte(c.page(t, c.admin+"/debug/slow", http.StatusOK)), &list); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("nothing is explained: %+v", list)
		}
	}
	slowest := list[0]
	if len(list) != 1 || slowest.Query != "red lamp" || slowest.Outcome != "complete" || len(slowest.Calls) != 3 || slowest.TookUs < slowest.SearchUs || slowest.SearchUs <= 0 {
		t.Errorf("%+v", list)
	}
	shards := make(map[string]bool)
	for _, call := range slowest.Calls {
		if shards[call.Shard] = true; call.TookUs <= 0 || call.TookUs > slowest.TookUs || call.Replica == "" || call.Error != "" {
			t.Errorf("%+v", call)
		}
	}
	explanation, _ := slowest.Explanation.(map[string]any)
	if matches, _ := explanation["matches"].([]any); len(shards) != 3 || len(matches) == 0 {
		t.Errorf("%d shards, %v", len(shards), explanation)
	}
	c.page(t, c.http+"/debug/slow", http.StatusNotFound)
	for end := time.Now().Add(clustertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(text), "red lamp\t") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%q, %v is recorded", text, err)
		}
	}
	c = startCluster(t, importEditor(t, []byte(fates), 0), 1, false, "default")
	c.page(t, c.admin+"/debug/slow", http.StatusNotFound)
}
