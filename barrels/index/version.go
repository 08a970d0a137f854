package index

import (
	"encoding/binary"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/search/words"
)

// FormatVersion is the version of all keys and values of a store.
const FormatVersion = 3

// CheckVersions compares the versions stored; fresh: there is nothing at all.
func CheckVersions(s kv.Snapshot) (fresh bool, err error) {
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
		return false, fault.Newf(fault.Version, "barrels: open",
			"the store has format version %d, this program reads %d; %s", v, FormatVersion, kv.Refill)
	}
	stored, _, err := s.Get(kv.Meta, kv.MetaWords, nil)
	if err != nil {
		return false, err
	}
	if v := words.Version(); string(stored) != v {
		return false, fault.Newf(fault.Version, "barrels: open",
			"the store's words are of version %q, this program's of %q: it would miss keywords; %s", stored, v, kv.Refill)
	}
	return false, nil
}

// checkEmpty fails when there are data without a version.
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

// WriteVersions stores the versions of this program in an empty store.
func WriteVersions(db kv.DB) error {
	var b kv.Batch
	PutVersions(&b)
	return db.Write(&b)
}

// PutVersions adds the versions of this program to a batch.
func PutVersions(b *kv.Batch) {
	b.Put(kv.Meta, kv.MetaFormat, binary.LittleEndian.AppendUint32(nil, FormatVersion))
	b.Put(kv.Meta, kv.MetaWords, []byte(words.Version()))
}
