package documents

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/metrics"
	"adshard/search/spelling"
)

// Vocabulary keeps the vocabulary by which words are corrected: the one that the balancer says is in force
// (backend.VocabularyInForce), or none while that is not here. A newer one is prepared meanwhile. Make it with
// NewVocabulary.
type Vocabulary struct {
	log   *slog.Logger
	force atomic.Pointer[spelling.Vocabulary]

	mu       sync.Mutex
	newest   *spelling.Vocabulary // guarded by mu
	announce string               // version that is in force, here or not; guarded by mu
}

// NewVocabulary returns a keeper without a vocabulary.
func NewVocabulary(log *slog.Logger) *Vocabulary { return &Vocabulary{log: log} }

// InForce returns the vocabulary in force, or nil if it is not here. It does not block.
func (v *Vocabulary) InForce() *spelling.Vocabulary { return v.force.Load() }

// NoVocabulary is what Prepared returns while there is none.
const NoVocabulary = "none"

// Prepared returns the version of the newest vocabulary that is here, or NoVocabulary.
func (v *Vocabulary) Prepared() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.newest == nil {
		return NoVocabulary
	}
	return v.newest.Version()
}

// Wants implements Keeper.
func (v *Vocabulary) Wants(name string) bool {
	return name == backend.VocabularyDocument || name == backend.VocabularyInForce
}

// Put implements Keeper. A vocabulary that was made with other rules of words is not used; the balancer
// makes another when it has these rules, too.
func (v *Vocabulary) Put(d backend.Document, data []byte) error {
	text, err := backend.UnpackDocument(data)
	if err != nil {
		return err
	}
	if d.Name == backend.VocabularyInForce {
		v.change(func() { v.announce = text })
		return nil
	}
	made, err := spelling.Parse(text)
	if fault.Is(err, fault.Version) {
		v.log.Warn("a vocabulary is not used; an older one that is here is", "err", err)
		return nil
	}
	if err == nil {
		v.log.Info("vocabulary", "version", made.Version(), "words", made.Len(), "bytes", made.Bytes())
		v.change(func() { v.newest = made })
	}
	return err
}

// change changes the keeper with f, and then has in force what is to be, if it is here. Masters must not differ, so
// nothing stands in for it.
func (v *Vocabulary) change(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
	now := v.force.Load()
	if now != nil && now.Version() == v.announce {
		return
	}
	switch {
	case v.newest != nil && v.newest.Version() == v.announce:
		v.force.Store(v.newest)
		v.log.Info("words are corrected by another vocabulary", "version", v.announce)
	case now != nil:
		v.force.Store(nil)
		v.log.Warn("no words are corrected until the vocabulary in force comes", "version", v.announce)
	}
}

// Unread implements Keeper. What is here stays in use.
func (v *Vocabulary) Unread(string) {}

// Drop implements Keeper.
func (v *Vocabulary) Drop(name string) {
	v.change(func() {
		if v.announce = ""; name == backend.VocabularyDocument {
			v.newest = nil
		}
	})
}

// Known implements Keeper.
func (v *Vocabulary) Known() {}

// Watch registers the number of words, and the memory that they take.
func (v *Vocabulary) Watch(r prometheus.Registerer) {
	metrics.Gauge(r, "adshard_vocabulary_words", "Words of the vocabulary by which this process corrects others; 0: it has none yet.", func() float64 {
		if now := v.InForce(); now != nil {
			return float64(now.Len())
		}
		return 0
	})
	metrics.Gauge(r, "adshard_vocabulary_bytes", "Memory that this vocabulary occupies.", func() float64 {
		if now := v.InForce(); now != nil {
			return float64(now.Bytes())
		}
		return 0
	})
}
