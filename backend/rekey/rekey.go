package rekey

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
	"adshard/search/words"
)

// Table is one of the tables whose keys are made from words.
type Table uint8

// The tables, in the order in which they are rebuilt.
const (
	Keywords Table = iota
	GroupNegatives
	CampaignNegatives
	AdvertiserNegatives
	Tables
)

// Owner is a group, campaign or advertiser that has keys to be changed in a table.
type Owner struct {
	Table Table
	ID    uint64
}

// Database reads and changes a backend's keys. Each method runs in a transaction of its own.
type Database interface {
	// Claimed returns the version of words that the database names.
	Claimed(ctx context.Context) (string, error)
	// Claim replaces the version `was` that the database names by `version`, or by `ifEmpty` if the database has no
	// keys. It returns the version that the database names afterwards, which is a different one if it did not name
	// `was`. It returns once no transaction of a writer of another version is open.
	Claim(ctx context.Context, was, version, ifEmpty string) (named string, err error)
	// Phrases calls f for each row of a table, in any order.
	Phrases(ctx context.Context, t Table, f func(owner uint64, key, text string) error) error
	// Change runs f in a transaction of a writer of `version`. f calls note with each removed phrase. The tables of
	// tx cache any number of rows of an owner.
	Change(ctx context.Context, version string, f func(tx *upsert.Tx, note func(backend.RemovedPhrase) error) error) error
}

// making is the prefix of the version that a database names while its keys are rebuilt.
const making = "making "

// together is the number of owners that are changed in one transaction.
const together = 256

// Run rebuilds the keys of a database with this program's words, unless they are already up to date. step is called after each durable
// step with the number of lists of keywords and negatives that are done and the number that have to change, which is 0 until it is known.
// Run returns the number of removed rows. Errors: fault.Version for a database whose words are not older than this program's, and errors
// of the database.
func Run(ctx context.Context, db Database, step func(done, of int)) (removed int, err error) {
	want := words.Version()
	named, err := db.Claimed(ctx)
	if err != nil || named == want {
		return 0, err
	}
	if named != making+want && !words.Older(named) {
		return 0, fault.Newf(fault.Version, "rekey", "the keys of keywords are of words of version %q, this program's are %q: use a newer program", named, want)
	}
	if named, err = db.Claim(ctx, named, making+want, want); err != nil {
		return 0, err
	}
	step(0, 0)
	if named == making+want {
		all := 0
		if removed, all, err = change(ctx, db, step); err == nil {
			named, err = db.Claim(ctx, named, want, want)
			step(all, all)
		}
	}
	if err != nil || named != want { // another program may have been faster
		now, again := db.Claimed(ctx)
		if again == nil && now == want {
			return removed, nil
		}
		if err == nil {
			err = fault.Newf(fault.Locked, "rekey", "another program makes the keys of keywords those of words of version %q: try again when it is done", now)
		}
	}
	return removed, err
}

// change rebuilds all keys. It returns how many rows were removed and how many owners had keys to change.
func change(ctx context.Context, db Database, step func(done, of int)) (removed, all int, err error) {
	owners, err := differing(ctx, db)
	done := 0
	for some := range slices.Chunk(owners, together) {
		if err != nil {
			return removed, len(owners), err
		}
		n := 0
		err = db.Change(ctx, making+words.Version(), func(tx *upsert.Tx, note func(backend.RemovedPhrase) error) error {
			m := maker{tx: tx, note: func(p backend.RemovedPhrase) error { n++; return note(p) }}
			return m.remake(ctx, some)
		})
		if err == nil {
			removed, done = removed+n, done+len(some)
			step(done, len(owners))
		}
	}
	return removed, len(owners), err
}

// differing returns the owners of rows whose keys differ from the present keys of their texts.
func differing(ctx context.Context, db Database) (list []Owner, err error) {
	var a words.Analyser
	for t := range Tables {
		seen := make(map[uint64]bool)
		err := db.Phrases(ctx, t, func(owner uint64, key, text string) error {
			if made, _ := keyOf(&a, text); made != key && !settled(text) && !seen[owner] {
				seen[owner] = true
				list = append(list, Owner{t, owner})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// keyOf returns the key of a text, or an error that says why the text is not a keyword. It does not check the limit of
// characters, which is the same in all versions.
func keyOf(a *words.Analyser, text string) (string, error) {
	found, err := a.Split(text)
	if err == nil {
		err = words.CheckCount(found)
	}
	if err != nil {
		return "", err
	}
	return words.Join(found), nil
}

// settled reports whether a row is left as it is, whatever key its text would get.
func settled(text string) bool { return !utf8.ValidString(text) }

// maker rebuilds the keys of owners in one transaction.
type maker struct {
	tx    *upsert.Tx
	note  func(backend.RemovedPhrase) error
	words words.Analyser
}

// remake rebuilds the keys of owners in any tables.
func (m *maker) remake(ctx context.Context, owners []Owner) error {
	var of [Tables][]Owner
	for _, o := range owners {
		of[o.Table] = append(of[o.Table], o)
	}
	err := remake(ctx, m, m.tx.Keywords, of[Keywords], keywords)
	for i, t := range []*upsert.Table[upsert.Phrase, upsert.Negative]{m.tx.GroupNegatives, m.tx.CampaignNegatives, m.tx.AdvertiserNegatives} {
		if err == nil {
			err = remake(ctx, m, t, of[GroupNegatives+Table(i)], negatives)
		}
	}
	return err
}

// kindOf is what remake needs to know about keywords, or about negatives.
type kindOf[V comparable] struct {
	text func(V) string
	// merged returns the value of the row that is kept when another row becomes equal to it.
	merged func(stays, other V) V
	// describe fills in the fields that only this kind has.
	describe func(V, *backend.RemovedPhrase)
}

var keywords = kindOf[upsert.Keyword]{
	text:   func(v upsert.Keyword) string { return v.Text },
	merged: func(stays, _ upsert.Keyword) upsert.Keyword { return stays },
	describe: func(v upsert.Keyword, p *backend.RemovedPhrase) {
		p.Enabled, p.Bid, p.HasBid, p.Quality = v.Enabled, v.Bid, v.HasBid, v.Quality
	},
}

var negatives = kindOf[upsert.Negative]{
	text: func(v upsert.Negative) string { return v.Text },
	merged: func(stays, other upsert.Negative) upsert.Negative {
		stays.Enabled = stays.Enabled || other.Enabled
		return stays
	},
	describe: func(v upsert.Negative, p *backend.RemovedPhrase) { p.Negative, p.Enabled = true, v.Enabled },
}

// remake rebuilds the keys of owners' rows in one table. All rows that change are written together, since each
// statement costs a round trip to a server.
func remake[V comparable](ctx context.Context, m *maker, t *upsert.Table[upsert.Phrase, V], owners []Owner, kind kindOf[V]) error {
	var taken, written []*upsert.Row[upsert.Phrase, V]
	for _, o := range owners {
		if err := t.Rows.Load(ctx, o.ID, math.MaxInt32); err != nil {
			return err
		}
		p := planOf(&m.words, t.Cached(o.ID), kind)
		t.ForgetOwner(o.ID)
		taken, written = append(taken, p.taken...), append(written, p.written...)
		for _, g := range p.gone {
			if err := m.note(noteOf(o, g, kind)); err != nil {
				return err
			}
		}
	}
	if len(taken) > 0 {
		if err := t.Rows.Remove(ctx, taken); err != nil {
			return err
		}
	}
	if len(written) == 0 {
		return nil
	}
	return t.Rows.Insert(ctx, written)
}

// noteOf returns the note about a row that is removed.
func noteOf[V comparable](o Owner, g gone[V], kind kindOf[V]) backend.RemovedPhrase {
	note := backend.RemovedPhrase{ID: g.row.ID, Text: kind.text(g.row.Before), Type: g.row.Key.Match, Kept: g.kept, Why: g.why}
	switch o.Table {
	case CampaignNegatives:
		note.Campaign = o.ID
	case AdvertiserNegatives:
		note.Advertiser = o.ID
	default:
		note.Group = o.ID
	}
	kind.describe(g.row.Before, &note)
	return note
}
