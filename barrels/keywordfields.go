package barrels

import (
	"adshard/barrels/block"
	"adshard/search"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of records.proto that are read or written one by one, beside
// those of record.go.
const (
	groupIDField          = 2
	groupEnabledField     = 6
	groupModifiersField   = 7
	negativeEnabled       = 5
	keywordIDField        = 1
	keywordTypeField      = 3
	keywordEnabledField   = 4
	keywordBidField       = 5
	keywordFromGroupField = 6
	keywordQualityField   = 7
	keywordNormField      = 8
	keywordFoldField      = 9
	keywordFormsField     = 10
	formLanguageField     = 1
	formTermsField        = 2
)

// readHead reads what postings say of a group from its record; its key is the
// caller's. It is groupHead without the ads' and negatives' texts.
func readHead(key uint64, record []byte) (h block.Group, err error) {
	h = block.Group{Key: key, Modifiers: [search.Devices]uint16{block.NotSet, block.NotSet, block.NotSet}}
	err = eachField(record, func(n protowire.Number, b []byte, v uint64) error {
		switch n {
		case groupIDField:
			h.ID = v
		case groupCampaignField:
			h.Campaign = v
		case groupAdvertiserField:
			h.Advertiser = v
		case groupEnabledField:
			if v != 0 {
				h.Flags |= block.GroupEnabled
			}
		case groupModifiersField:
			return readModifiers(b, &h.Modifiers)
		case groupNegativeField:
			return flagIf(b, negativeEnabled, &h.Flags, block.GroupNegatives)
		case groupAdField:
			return flagIf(b, adEnabledField, &h.Flags, block.GroupHasAd)
		}
		return nil
	})
	return h, err
}

func readModifiers(b []byte, m *[search.Devices]uint16) error {
	return eachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n >= 1 && int(n) <= search.Devices {
			m[n-1] = uint16(v)
		}
		return nil
	})
}

// flagIf sets a flag when a boolean field of a message is true.
func flagIf(b []byte, field protowire.Number, flags *uint16, flag uint16) error {
	if *flags&flag != 0 {
		return nil
	}
	return eachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n == field && v != 0 {
			*flags |= flag
		}
		return nil
	})
}
