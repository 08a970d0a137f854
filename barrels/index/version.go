package index

import (
	"encoding/binary"
	"fmt"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/search/words"
)

// FormatVersion is the version of all keys and values of a store.
const FormatVersion = 6

// CheckVersions checks the stored versions against this program's, with words of some languages. fresh is true if nothing
// is stored at all.
func CheckVersions(s kv.Snapshot, languages words.Languages) (fresh bool, err error) {
	format, ok, err := s.Get(kv.Meta, kv.MetaFormat, nil)
	if err != nil {
		return false, err
	}
	if !ok {
		return true, checkEmpty(s)
	}
	if len(format) != 4 {
		return false, fault.Newf(fault.Corrupt, "barrels: open", "the store's format version is damaged; %s", kv.Refill)
	}
	if v := binary.LittleEndian.Uint32(format); v != FormatVersion {
		e := fault.Error{Kind: fault.Version, Op: "barrels: open",
			Err: fmt.Errorf("the store has format version %d, this program's is %d; %s", v, FormatVersion, kv.Refill)}
		if v < FormatVersion {
			e.Field = OlderProgram
		}
		return false, &e
	}
	stored, _, err := s.Get(kv.Meta, kv.MetaWords, nil)
	if err != nil {
		return false, err
	}
	return false, checkWords(string(stored), languages)
}

// The fault.Error.Field of errors for stores that must be built again from the database.
const (
	// OlderProgram: the store has the format or the words of an older program.
	OlderProgram = "older program"
	// OtherLanguages: the store has words of other languages, so either the store is to be built again or the setting is wrong.
	OtherLanguages = "languages"
)

// checkWords returns why a store with words of a version cannot be opened, or nil if it can.
func checkWords(stored string, languages words.Languages) error {
	v := languages.Version()
	if stored == v {
		return nil
	}
	if languages.OtherLanguages(stored) {
		return &fault.Error{Kind: fault.Version, Op: "barrels: open", Field: OtherLanguages, Err: fmt.Errorf(
			"the store was built with the languages %s, and `languages` is %s: correct that; or, if the cluster is to have these languages,"+
				" move the store's directory away: it is built again", words.LanguagesOf(stored), languages)}
	}
	e := fault.Error{Kind: fault.Version, Op: "barrels: open", Err: fmt.Errorf("the store's words are of version %q, this program's of %q:"+
		" it would miss keywords and negatives, and must be built again; %s", stored, v, kv.Refill)}
	if words.Older(stored) {
		e.Field = OlderProgram
	}
	return &e
}

// checkEmpty returns an error if there are data without a version.
func checkEmpty(s kv.Snapshot) error {
	for f := range kv.Family(kv.Families) {
		it := s.Full(f)
		found := it.Seek(nil)
		err := it.Err()
		it.Close()
		if err != nil {
			return err
		}
		if found {
			return fault.Newf(fault.Corrupt, "barrels: open", "data in %s, but no format version; %s", f, kv.Refill)
		}
	}
	return nil
}

// WriteVersions writes the versions of this program to an empty store.
func WriteVersions(db kv.DB, languages words.Languages) error {
	var b kv.Batch
	PutVersions(&b, languages)
	return db.Write(&b)
}

// PutVersions adds the versions of this program's format and words to a batch.
func PutVersions(b *kv.Batch, languages words.Languages) {
	b.PutFunc(kv.Meta, kv.MetaFormat, func(dst []byte) []byte { return binary.LittleEndian.AppendUint32(dst, FormatVersion) })
	b.Put(kv.Meta, kv.MetaWords, []byte(languages.Version()))
}
