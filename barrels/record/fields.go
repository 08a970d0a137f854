package record

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// Numbers of the fields of records.proto that are read or written one by one, other than those in
// group.go.
const (
	groupIDField          = 2
	groupCampaignField    = 3
	groupAdvertiserField  = 4
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

// ReadHead reads from a group's record what postings say of the group. It returns the same as Head
// without decoding ads and negatives, or an error if the message is damaged.
func ReadHead(key uint64, record []byte) (h block.Group, err error) {
	h = block.Group{Key: key, Modifiers: [search.Devices]uint16{block.NotSet, block.NotSet, block.NotSet}}
	err = EachField(record, func(n protowire.Number, b []byte, v uint64) error {
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
		case groupTargetingField:
			g, err := readTargeting(b)
			h.Flags |= factorFlags(g)
			return err
		}
		return nil
	})
	return h, err
}

func readTargeting(b []byte) (*targeting.Group, error) {
	m := new(pb.Targeting)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	return Targeting(m), nil
}

func readModifiers(b []byte, m *[search.Devices]uint16) error {
	return EachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n >= 1 && int(n) <= search.Devices {
			m[n-1] = uint16(v)
		}
		return nil
	})
}

// flagIf sets a flag if a boolean field of a message is true.
func flagIf(b []byte, field protowire.Number, flags *uint16, flag uint16) error {
	if *flags&flag != 0 {
		return nil
	}
	return EachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		if n == field && v != 0 {
			*flags |= flag
		}
		return nil
	})
}

// errFound ends a walk over fields early.
var errFound = errors.New("found")

// Parents reads the ids of a group's parents from its record. An id is 0 if the record names no
// such parent.
func Parents(b []byte) (campaign, advertiser uint64, err error) {
	err = EachField(b, func(n protowire.Number, _ []byte, id uint64) error {
		switch n {
		case groupCampaignField:
			campaign = id
		case groupAdvertiserField:
			advertiser = id
			return errFound
		}
		return nil
	})
	if err == errFound {
		err = nil
	}
	return campaign, advertiser, err
}
