package processtest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"adshard/backend"
)

// correctedBy asks a master for corrections, and returns the version of the vocabulary that its answer names.
func correctedBy(t *testing.T, url string) string {
	t.Helper()
	code, body := tries(t, http.MethodGet, url+"/v1/search?q=keybord&variants=misspelt&timeout_ms=5000", "")
	var a struct {
		Version string `json:"vocabulary_version"`
	}
	if err := json.Unmarshal([]byte(body), &a); code != http.StatusOK || err != nil || a.Version == "" {
		t.Errorf("%d, %s", code, body)
	}
	return a.Version
}

// TestAFrozenMasterHasNoOldVocabulary: a master that was frozen while the others got another vocabulary does not correct words by the old
// one when it goes on, though its queries come before anything else, and though its connection to the balancer has ended.
func TestAFrozenMasterHasNoOldVocabulary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	c := newCluster(t, w)
	c.cfg.MasterLease, c.cfg.Slaves = time.Second, 1
	c.startBalancer()
	c.startSlave(0)
	frozen := c.startMaster()
	sleeper := c.master
	other := c.startMaster()
	w.follows(frozen)
	w.follows(other)
	eventually(t, "both masters correct words", func() bool { return correctedBy(t, frozen) != "none" && correctedBy(t, other) != "none" })
	old := correctedBy(t, frozen)
	if v := correctedBy(t, other); v != old {
		t.Fatalf("two masters have the vocabularies %s and %s", old, v)
	}
	sleeper.freeze()
	w.addWord("keyboards")
	c.parts["balancer"].kill() // the next one counts words at once
	c.startBalancer()
	eventually(t, "another vocabulary is in force", func() bool { v := correctedBy(t, other); return v != "none" && v != old })

	const queries = 8
	versions := make(chan string, queries)
	for range queries {
		go func() { versions <- correctedBy(t, frozen) }()
	}
	time.Sleep(100 * time.Millisecond) // they wait in the master's sockets
	sleeper.goOn()
	now := correctedBy(t, other)
	for range queries {
		if v := <-versions; v != now && v != "none" {
			t.Errorf("a master that was frozen corrects by %s, others by %s", v, now)
		}
	}
	eventually(t, "the master has the vocabulary in force", func() bool { return correctedBy(t, frozen) == now })
}

// addWord adds a keyword of one word to the first group.
func (w *world) addWord(word string) {
	w.t.Helper()
	tx, err := w.db.Begin(w.t.Context())
	w.must(err)
	defer tx.Rollback()
	w.must(tx.Keyword(w.t.Context(), 1, backend.KeywordPatch{Text: word, Words: word, Status: backend.Enable}))
	w.must(tx.Commit(w.t.Context()))
}
