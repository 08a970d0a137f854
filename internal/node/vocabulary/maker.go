// Package vocabulary makes the vocabulary by which misspelt words are corrected (package spelling), from the keywords of
// the database. The leading balancer runs a Maker; masters follow its two documents.
package vocabulary

import (
	"context"
	"log/slog"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/search/spelling"
	"adshard/search/words"
)

const (
	// countPause is the least time between two counts of keywords' words. A count that takes long is
	// followed by countShare times as long a pause.
	countPause = time.Minute
	countShare = 50
	// lookPause is the time between two looks at what is to be done.
	lookPause = time.Second
	// countGroups is the number of ad groups that are counted with one snapshot, and countRest how many times as
	// long as a snapshot took the count then rests.
	countGroups = 500
	countRest   = 3
)

// Config says for whom a vocabulary is made. Its values are not checked.
type Config struct {
	DB  backend.Store
	Log *slog.Logger
	// Leads reports whether this process may change the documents now.
	Leads func() bool
	// Prepared reports whether all masters that count have prepared a version.
	Prepared func(version string) bool
	// Patience is how long masters may take before a version is put in force without them.
	Patience time.Duration
}

// Maker keeps the vocabulary up to date, which masters follow as a document. A new one is first saved. When all masters
// have prepared it, or one has been silent for too long, it is put in force by another document, so that masters switch
// within moments. Make it with New.
type Maker struct {
	Config
	// saved and force are the heads of the two documents, and version and inForce what they say; "" if there is
	// none, or none that this program can read.
	saved, force     backend.Document
	version, inForce string
	at               backend.Position // of the newest change before the last count
	counted          bool
	next             time.Time // of the next count
	waits            time.Time // since when a saved version is to be put in force
}

// New returns a maker that has read nothing.
func New(c Config) *Maker { return &Maker{Config: c} }

// Run keeps the vocabulary up to date until ctx is done, whose error it returns.
func (m *Maker) Run(ctx context.Context) error {
	var complaint wait.Complaint
	for {
		if m.Leads() {
			err := m.look(ctx)
			if fault.Is(err, fault.Conflict) { // another balancer has saved one
				err = nil
			}
			if complaint.Tell(err) && ctx.Err() == nil {
				m.Log.Warn("no newer vocabulary for misspelt words; trying again later", "err", err)
			}
		}
		if err := wait.Sleep(ctx, lookPause); err != nil {
			return err
		}
	}
}

// look does what is to be done now.
func (m *Maker) look(ctx context.Context) error {
	if err := m.read(ctx); err != nil {
		return err
	}
	if !time.Now().Before(m.next) {
		m.next = time.Now().Add(countPause)
		if err := m.renew(ctx); err != nil {
			return err
		}
	}
	return m.putInForce(ctx)
}

// read reads the documents that this balancer has not saved itself: those of the last leader, or of a restored database.
func (m *Maker) read(ctx context.Context) error {
	load := func(name string, head *backend.Document) (text string, changed bool, err error) {
		now, err := m.DB.Document(ctx, name)
		if err == nil && now != *head {
			_, text, _, err = backend.LoadDocument(ctx, m.DB, name)
		}
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) { // one that cannot be read is replaced
			err = nil
		}
		if changed = err == nil && now != *head; changed {
			*head = now
		}
		return text, changed, err
	}
	text, changed, err := load(backend.VocabularyDocument, &m.saved)
	if err == nil && changed {
		m.version, m.counted, m.next = spelling.VersionOf(text), false, time.Time{}
		m.waits = time.Now()
	}
	if err != nil {
		return err
	}
	text, changed, err = load(backend.VocabularyInForce, &m.force)
	if err == nil && changed {
		m.inForce = text
	}
	return err
}

// renew counts the keywords' words if keywords have changed, and saves the vocabulary if it is another one.
func (m *Maker) renew(ctx context.Context) error {
	at, err := m.DB.Newest(ctx)
	if err != nil || m.counted && at == m.at {
		return err
	}
	text, took, err := countWords(ctx, m.DB)
	m.next = time.Now().Add(max(countPause, countShare*took))
	if err != nil {
		return err
	}
	m.at, m.counted = at, true
	version := spelling.VersionOf(text)
	if version == m.version {
		return nil
	}
	head, err := m.DB.SaveDocument(ctx, backend.VocabularyDocument, m.saved.Version, backend.PackDocument(text))
	if err != nil {
		return err
	}
	m.saved, m.version, m.waits = head, version, time.Now()
	m.Log.Info("a vocabulary for misspelt words is saved", "version", version, "bytes", len(text), "took", took.Round(time.Millisecond))
	return nil
}

// putInForce puts the saved vocabulary in force if no master has to be waited for: for the first, none has.
func (m *Maker) putInForce(ctx context.Context) error {
	if m.version == "" || m.version == m.inForce || m.inForce != "" && !m.Prepared(m.version) && time.Since(m.waits) < m.Patience {
		return nil
	}
	head, err := m.DB.SaveDocument(ctx, backend.VocabularyInForce, m.force.Version, backend.PackDocument(m.version))
	if err != nil {
		return err
	}
	m.force, m.inForce = head, m.version
	m.Log.Info("a vocabulary for misspelt words is in force", "version", m.version)
	return nil
}

// countWords returns the text of the vocabulary of all keywords, and how long reading them took. It reads a part of
// the groups at a time and rests in between: keywords that change meanwhile may be counted or not. Groups that are
// damaged do not count.
func countWords(ctx context.Context, db backend.Store) (text string, took time.Duration, err error) {
	var c spelling.Counter
	for after := uint64(0); ; {
		began := time.Now()
		items, last, err := someItems(ctx, db, after)
		if err != nil {
			return "", took, err
		}
		for _, it := range items {
			for i := range it.Keywords {
				split, err := words.Keyword(it.Keywords[i].Text)
				if err == nil { // a text that is no keyword is not served either
					err = c.Add(split)
				}
				if fault.Is(err, fault.Unavailable) {
					return "", took, err
				}
			}
		}
		step := time.Since(began)
		if took += step; last == after {
			return c.Text(), took, nil
		}
		after = last
		if err := wait.Sleep(ctx, countRest*step); err != nil {
			return "", took, err
		}
	}
}

// someItems returns some groups with ids above `after`, and the last of these ids, or `after` if there are none.
func someItems(ctx context.Context, db backend.Store, after uint64) (items []*backend.Item, last uint64, err error) {
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return nil, after, err
	}
	defer func() { _ = snapshot.Close() }() // only read
	ids, err := snapshot.IDs(ctx, backend.KindGroup, 0, after, countGroups)
	if err != nil || len(ids) == 0 {
		return nil, after, err
	}
	last = ids[len(ids)-1]
	if items, err = snapshot.Items(ctx, ids); !fault.Is(err, fault.Corrupt) {
		return items, last, err
	}
	items = nil
	for _, id := range ids {
		one, err := snapshot.Items(ctx, []uint64{id})
		switch {
		case fault.Is(err, fault.Corrupt):
		case err != nil:
			return nil, after, err
		default:
			items = append(items, one...)
		}
	}
	return items, last, nil
}
