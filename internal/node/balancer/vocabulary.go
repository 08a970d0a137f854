package balancer

import (
	"context"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/search/spelling"
	"adshard/search/words"
)

const (
	// vocabularyPause is the least time between two counts of keywords' words. A count that takes long is
	// followed by vocabularyShare times as long a pause.
	vocabularyPause = time.Minute
	vocabularyShare = 50
	// vocabularyLook is the time between two looks at what is to be done.
	vocabularyLook = time.Second
	// countGroups is the number of ad groups that are counted with one snapshot, and countRest how many times as
	// long as a snapshot took the count then rests.
	countGroups = 500
	countRest   = 3
)

// vocabulary makes the vocabulary of the keywords (package spelling), which masters follow as a document. A
// new one is first saved. When all masters have prepared it, or one has been silent for too long, it is put in
// force by another document, so that masters switch within moments.
type vocabulary struct {
	b *Balancer
	// saved and force are the heads of the two documents, and version and inForce what they say; "" if there is
	// none, or none that this program can read.
	saved, force     backend.Document
	version, inForce string
	at               backend.Position // of the newest change before the last count
	counted          bool
	next             time.Time // of the next count
	waits            time.Time // since when a saved version is to be put in force
}

// run keeps the vocabulary up to date until ctx is done.
func (v *vocabulary) run(ctx context.Context) error {
	var complaint wait.Complaint
	for {
		if v.b.leadership.Valid() {
			err := v.look(ctx)
			if fault.Is(err, fault.Conflict) { // another balancer has saved one
				err = nil
			}
			if complaint.Tell(err) && ctx.Err() == nil {
				v.b.log.Warn("no newer vocabulary for misspelt words; trying again later", "err", err)
			}
		}
		if err := wait.Sleep(ctx, vocabularyLook); err != nil {
			return err
		}
	}
}

// look does what is to be done now.
func (v *vocabulary) look(ctx context.Context) error {
	if err := v.read(ctx); err != nil {
		return err
	}
	if !time.Now().Before(v.next) {
		v.next = time.Now().Add(vocabularyPause)
		if err := v.renew(ctx); err != nil {
			return err
		}
	}
	return v.putInForce(ctx)
}

// read reads the documents that this balancer has not saved itself: those of the last leader, or of a restored database.
func (v *vocabulary) read(ctx context.Context) error {
	load := func(name string, head *backend.Document) (text string, changed bool, err error) {
		now, err := v.b.db.Document(ctx, name)
		if err == nil && now != *head {
			_, text, _, err = backend.LoadDocument(ctx, v.b.db, name)
		}
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) { // one that cannot be read is replaced
			err = nil
		}
		if changed = err == nil && now != *head; changed {
			*head = now
		}
		return text, changed, err
	}
	text, changed, err := load(backend.VocabularyDocument, &v.saved)
	if err == nil && changed {
		v.version, v.counted, v.next = spelling.VersionOf(text), false, time.Time{}
		v.waits = time.Now()
	}
	if err != nil {
		return err
	}
	text, changed, err = load(backend.VocabularyInForce, &v.force)
	if err == nil && changed {
		v.inForce = text
	}
	return err
}

// renew counts the keywords' words if keywords have changed, and saves the vocabulary if it is another one.
func (v *vocabulary) renew(ctx context.Context) error {
	at, err := v.b.db.Newest(ctx)
	if err != nil || v.counted && at == v.at {
		return err
	}
	text, took, err := countWords(ctx, v.b.db)
	v.next = time.Now().Add(max(vocabularyPause, vocabularyShare*took))
	if err != nil {
		return err
	}
	v.at, v.counted = at, true
	version := spelling.VersionOf(text)
	if version == v.version {
		return nil
	}
	head, err := v.b.db.SaveDocument(ctx, backend.VocabularyDocument, v.saved.Version, backend.PackDocument(text))
	if err != nil {
		return err
	}
	v.saved, v.version, v.waits = head, version, time.Now()
	v.b.log.Info("a vocabulary for misspelt words is saved", "version", version, "bytes", len(text), "took", took.Round(time.Millisecond))
	return nil
}

// putInForce puts the saved vocabulary in force if no master has to be waited for.
func (v *vocabulary) putInForce(ctx context.Context) error {
	if v.version == "" || v.version == v.inForce || !v.b.prepared(v.version) && time.Since(v.waits) < v.b.cfg.MasterLease {
		return nil
	}
	head, err := v.b.db.SaveDocument(ctx, backend.VocabularyInForce, v.force.Version, backend.PackDocument(v.version))
	if err != nil {
		return err
	}
	v.force, v.inForce = head, v.version
	v.b.log.Info("a vocabulary for misspelt words is in force", "version", v.version)
	return nil
}

// prepared reports whether all masters with a lease that know vocabularies have prepared a version.
func (b *Balancer) prepared(version string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, m := range b.masterReports {
		if m.received >= now-b.cfg.MasterLease && m.vocabulary != "" && m.vocabulary != version {
			return false
		}
	}
	return true
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
